// From the bytes of a picture to its pixels. A picture that is too large or was cut off is refused
// before it is decoded. PNG and common JPEG files are decoded here, all others by the platform.

import { type CancelFlag, cancellable, pollCancellation } from "../../cancellation.ts";
import { checkFormat } from "./formats.ts";
import { type Image, ImageError, type Size } from "./image.ts";
import { decodeJpeg } from "./jpeg/decode.ts";
import { turnUpright } from "./orientation.ts";
import { decodePng } from "./png.ts";

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

// Decodes pictures with createImageBitmap, for formats with 8 bits per colour. The pixels of a
// bitmap can only be read in an encoded form, through a canvas; BMP is the simplest.

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

// The pixels of a BMP file as a canvas writes it: uncompressed, the bottom row first. A pixel is
// blue, green, red and perhaps alpha; if all are grey, it is an index into a colour table.

const FILE_HEADER_BYTES = 14;

/** Reads the colours, without alpha. */
function readBmpPixels(bytes: Uint8Array): Image {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const data = view.getUint32(10, true);
  const colors = FILE_HEADER_BYTES + view.getUint32(14, true);
  const width = view.getInt32(18, true);
  const height = view.getInt32(22, true);
  const pixelBytes = view.getUint16(28, true) / 8;
  const rowBytes = Math.ceil(width * pixelBytes / 4) * 4;
  const isIndexed = pixelBytes === 1;

  const pixels = new Uint8Array(width * height * 3);
  for (let row = 0, at = 0; row < height; row++) {
    pollCancellation();
    let stored = data + (height - 1 - row) * rowBytes;
    for (let column = 0; column < width; column++, at += 3, stored += pixelBytes) {
      const color = isIndexed ? colors + bytes[stored] * 4 : stored;
      pixels[at] = bytes[color + 2];
      pixels[at + 1] = bytes[color + 1];
      pixels[at + 2] = bytes[color];
    }
  }
  return { width, height, pixels };
}
