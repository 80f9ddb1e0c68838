// Pixels by way of createImageBitmap, of formats with 8 bits per colour. A bitmap gives its pixels away
// only encoded, through a canvas: as BMP, which is plain.

import { type CancelFlag, cancellable } from "../../cancellation.ts";
import { readBmpPixels } from "./bmp_pixels.ts";
import { type Image, ImageError } from "./image.ts";

/**
 * How to decode. Alpha is discarded, not composited: the colours below it have to come out as they
 * are in the file. In Deno 2.9 that is what "default" does; "none" divides them by alpha, as if the
 * file had them multiplied. Orientation is applied, to JPEG and WebP; profiles are not.
 */
const OPTIONS: ImageBitmapOptions = {
  premultiplyAlpha: "default",
  colorSpaceConversion: "none",
  imageOrientation: "from-image",
};

/**
 * Decodes a file whose format is known to be supported.
 *
 * @param bytes the whole file
 * @param flags call it off once the platform has decoded it
 * @throws {ImageError} if the decoder refuses it
 */
export async function decodeBitmap(
  bytes: Uint8Array,
  flags: readonly CancelFlag[] = [],
): Promise<Image> {
  const plain = await reencode(bytes);
  return cancellable(flags, () => readBmpPixels(plain));
}

async function reencode(bytes: Uint8Array): Promise<Uint8Array> {
  // Not shared with another thread: what comes in was read from a request or a file.
  const bitmap = await decode(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("bitmaprenderer")!.transferFromImageBitmap(bitmap);
  const blob = await canvas.convertToBlob({ type: "image/bmp" });
  return new Uint8Array(await blob.arrayBuffer());
}

async function decode(file: Blob): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file, OPTIONS);
  } catch (error) {
    throw new ImageError(`its data is damaged (${(error as Error).message})`);
  }
}
