// The pixels of a BMP file as a canvas writes it: uncompressed, the bottom row first. A pixel is
// blue, green, red and perhaps alpha; if all are grey, it is an index into a colour table.

import { pollCancellation } from "../../cancellation.ts";
import type { Image } from "./image.ts";

const FILE_HEADER_BYTES = 14;

/** Reads the colours, without alpha. */
export function readBmpPixels(bytes: Uint8Array): Image {
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
