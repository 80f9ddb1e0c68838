// From the bytes of a picture to its pixels. A picture that is too large or was cut off is refused
// before it is decoded. PNG and common JPEG files are decoded here, all others by the platform.

import { type CancelFlag, cancellable } from "../../cancellation.ts";
import { decodeBitmap } from "./bitmap.ts";
import { checkFormat } from "./formats/mod.ts";
import type { Image, Size } from "./image.ts";
import { decodeJpeg } from "./jpeg/mod.ts";
import { turnUpright } from "./orientation.ts";
import { decodePng } from "./png/mod.ts";

/**
 * Decodes PNG, JPEG, WebP, GIF and BMP; of an animation, the first frame. The picture is turned
 * upright as its EXIF data says. Colour profiles are not applied.
 *
 * @param bytes the whole file
 * @param flags cancel the work, except while the platform decodes
 * @throws {ImageError} if the format is not supported, or the file is cut off, damaged, or has too
 *   many pixels
 */
export async function decodeImage(
  bytes: Uint8Array,
  flags: readonly CancelFlag[] = [],
): Promise<Image> {
  const { decoder, orientation } = checkFormat(bytes);
  const image = decoder === "png"
    ? await decodePng(bytes, flags)
    : decoder === "jpeg"
    ? cancellable(flags, () => decodeJpeg(bytes))
    : await decodeBitmap(bytes, flags);
  return cancellable(flags, () => turnUpright(image, orientation));
}

/**
 * The size of the decoded picture.
 *
 * @throws {ImageError} if the format is not supported, or the file is cut off or has too many
 *   pixels
 */
export function measureImage(bytes: Uint8Array): Size {
  return checkFormat(bytes).size;
}
