// A picture for the benchmarks of images, made in code: slopes and waves with some noise, so that a
// PNG of it is about as large as one of a photograph. RFC 2083, 8 bits of red, green and blue.

import { crc32, deflateSync } from "node:zlib";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHANNELS = 3;

/** Bits per channel, truecolour; deflate, the usual filters, not interlaced. */
const HEADER_END = [8, 2, 0, 0, 0];

/** The bytes of a PNG file of that many pixels. */
export function makePicture(width: number, height: number): Uint8Array<ArrayBuffer> {
  const header = new DataView(new ArrayBuffer(8));
  header.setUint32(0, width);
  header.setUint32(4, height);
  return join([
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", join([new Uint8Array(header.buffer), Uint8Array.from(HEADER_END)])),
    chunk("IDAT", deflateSync(scanlines(width, height))),
    chunk("IEND", new Uint8Array()),
  ]);
}

/** Each line has the number of its filter, 0 for none, before its pixels. */
function scanlines(width: number, height: number): Uint8Array {
  const lines = new Uint8Array(height * (1 + CHANNELS * width));
  let noise = 1;
  let at = 0;
  for (let y = 0; y < height; y++) {
    lines[at++] = 0;
    for (let x = 0; x < width; x++) {
      const wave = 40 * Math.sin(x / 23 + y / 57) + 30 * Math.cos(y / 11 - x / 91);
      noise = Math.imul(noise, 1_664_525) + 1_013_904_223;
      for (let channel = 0; channel < CHANNELS; channel++) {
        const slope = 100 + 60 * (channel === 1 ? x / width : y / height);
        lines[at++] = slope + wave * (1 - channel / 4) + (noise >>> (24 + 2 * channel) & 3);
      }
    }
  }
  return lines;
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const named = join([new TextEncoder().encode(type), data]);
  const framed = new DataView(new ArrayBuffer(named.length + 8));
  framed.setUint32(0, data.length);
  new Uint8Array(framed.buffer).set(named, 4);
  framed.setUint32(4 + named.length, crc32(named));
  return new Uint8Array(framed.buffer);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
