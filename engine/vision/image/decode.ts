// From the bytes of a picture to its pixels, through the decoders of the platform. What they do not
// do is done here: refusing what is too large before it is decoded, and what was cut off.

import { decodeBitmap } from "./bitmap.ts";
import { checkFormat } from "./formats/mod.ts";
import { type Image } from "./image.ts";
import { turnUpright } from "./orientation.ts";

/**
 * Decodes PNG, JPEG, WebP, GIF and BMP; of an animation, the first frame. The picture is turned
 * upright as its EXIF data says; colour profiles are not applied.
 *
 * @param bytes the whole file
 * @throws {ImageError} if it is no such file, is cut off or damaged, or has too many pixels
 */
export async function decodeImage(bytes: Uint8Array): Promise<Image> {
  const { orientation, isDeep } = checkFormat(bytes);
  return turnUpright(await decodeBitmap(bytes, isDeep), orientation);
}
