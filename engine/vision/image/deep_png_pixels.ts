// The pixels of a PNG file with 16 bits per colour as a canvas writes it: not interlaced, without
// a palette. Kept is the upper byte of each colour, as Pillow and stb_image do.
// The format: W3C, Portable Network Graphics; its filters: section 9.

import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";
import { ByteReader } from "./byte_reader.ts";
import type { Image } from "./image.ts";

/** Channels by colour type: grey, colours, grey with alpha, colours with alpha. */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 4: 2, 6: 4 };

/** Reads the colours, and leaves alpha out. */
export function readDeepPngPixels(bytes: Uint8Array): Image {
  const chunks = readChunks(bytes);
  const header = new ByteReader(chunks.header, "PNG", "big-endian");
  const width = header.uint32();
  const height = header.uint32();
  header.skip(1);
  const channels = CHANNELS[header.uint8()];
  const samples = unfilter(inflateSync(chunks.data), height, channels * 2);

  // The colours of a pixel are one or three samples of two bytes, the upper one first.
  const colorStep = channels >= 3 ? 2 : 0;
  const pixels = new Uint8Array(width * height * 3);
  for (let at = 0, sample = 0; at < pixels.length; at += 3, sample += channels * 2) {
    pixels[at] = samples[sample];
    pixels[at + 1] = samples[sample + colorStep];
    pixels[at + 2] = samples[sample + 2 * colorStep];
  }
  return { width, height, pixels };
}

/** What the header holds, and the compressed data in one. */
function readChunks(bytes: Uint8Array): { header: Uint8Array; data: Uint8Array } {
  const reader = new ByteReader(bytes, "PNG", "big-endian");
  reader.skip(8);
  let header: Uint8Array = new Uint8Array();
  const data: Uint8Array[] = [];
  for (let name = ""; name !== "IEND"; reader.skip(4)) {
    const length = reader.uint32();
    name = reader.name();
    const chunk = reader.take(length);
    if (name === "IHDR") header = chunk;
    if (name === "IDAT") data.push(chunk);
  }
  return { header, data: Buffer.concat(data) };
}

/**
 * Undoes the filters: each row starts with the number of one, which predicts a byte from the one a
 * pixel to the left, the one above, and the one to the left of that.
 */
function unfilter(filtered: Uint8Array, height: number, pixelBytes: number): Uint8Array {
  const rowBytes = filtered.length / height - 1;
  const bytes = new Uint8Array(rowBytes * height);
  for (let row = 0; row < height; row++) {
    const source = row * (rowBytes + 1);
    const target = row * rowBytes;
    const predict = PREDICTORS[filtered[source]];
    for (let index = 0; index < rowBytes; index++) {
      const left = index < pixelBytes ? 0 : bytes[target + index - pixelBytes];
      const above = row === 0 ? 0 : bytes[target + index - rowBytes];
      const corner = row === 0 || index < pixelBytes
        ? 0
        : bytes[target + index - rowBytes - pixelBytes];
      bytes[target + index] = filtered[source + 1 + index] + predict(left, above, corner);
    }
  }
  return bytes;
}

const PREDICTORS = [
  () => 0,
  (left: number) => left,
  (_left: number, above: number) => above,
  (left: number, above: number) => (left + above) >> 1,
  paeth,
];

/** The neighbour that is nearest to left + above - corner. */
function paeth(left: number, above: number, corner: number): number {
  const toLeft = Math.abs(above - corner);
  const toAbove = Math.abs(left - corner);
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}
