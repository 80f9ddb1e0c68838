// From the bytes of a picture to its pixels. What is too large is refused before it is decoded, and
// so is what was cut off. Common JPEG files are decoded here, everything else by the platform.

import { decodeBitmap } from "./bitmap.ts";
import { checkFormat } from "./formats/mod.ts";
import { type Image } from "./image.ts";
import { decodeJpeg } from "./jpeg/mod.ts";
import { turnUpright } from "./orientation.ts";

/**
 * Decodes PNG, JPEG, WebP, GIF and BMP; of an animation, the first frame. The picture is turned
 * upright as its EXIF data says; colour profiles are not applied.
 *
 * @param bytes the whole file
 * @throws {ImageError} if it is no such file, is cut off or damaged, or has too many pixels
 */
export async function decodeImage(bytes: Uint8Array): Promise<Image> {
  const { decoder, orientation } = checkFormat(bytes);
  const image = decoder === "jpeg"
    ? decodeJpeg(bytes)
    : await decodeBitmap(bytes, decoder === "deep");
  return turnUpright(image, orientation);
}
