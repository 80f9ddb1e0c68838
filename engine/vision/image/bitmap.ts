// Decodes pictures with createImageBitmap, for formats with 8 bits per colour. The pixels of a
// bitmap can only be read in an encoded form, through a canvas; BMP is the simplest.

import { type CancelFlag, cancellable } from "../../cancellation.ts";
import { readBmpPixels } from "./bmp_pixels.ts";
import { type Image, ImageError } from "./image.ts";

/**
 * Options for decoding. Alpha has to be discarded, not composited, so that colours come out as they
 * are in the file. In Deno 2.9 this is "default"; "none" divides colours by alpha, as if they were
 * premultiplied. The orientation of JPEG and WebP is applied, colour profiles are not.
 */
const OPTIONS: ImageBitmapOptions = {
  premultiplyAlpha: "default",
  colorSpaceConversion: "none",
  imageOrientation: "from-image",
};

/**
 * Decodes a file whose format is supported.
 *
 * @param bytes the whole file
 * @param flags cancel the work after the platform has decoded the file
 * @throws {ImageError} if the decoder refuses the file
 */
export async function decodeBitmap(
  bytes: Uint8Array,
  flags: readonly CancelFlag[] = [],
): Promise<Image> {
  const plain = await reencode(bytes);
  return cancellable(flags, () => readBmpPixels(plain));
}

async function reencode(bytes: Uint8Array): Promise<Uint8Array> {
  // The bytes are never in shared memory, since they were read from a request or a file.
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
