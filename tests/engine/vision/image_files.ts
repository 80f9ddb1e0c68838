// Small pictures in every format, for the tests of decoding. What is not simple to write byte by byte
// is a literal, made with sharp. All but the GIF show the same gradient.

import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";

/** Sides of the gradient. */
export const WIDTH = 16;
export const HEIGHT = 8;

/** The gradient: [height, width, 3]. */
export const GRADIENT: readonly number[] = Array.from({ length: WIDTH * HEIGHT }, (_, pixel) => {
  const [x, y] = [pixel % WIDTH, Math.floor(pixel / WIDTH)];
  return [10 + x * 15, 20 + y * 30, 200 - x * 10];
}).flat();

/** Files of the gradient by what is special about them. */
export const FILES = {
  jpeg: decode(
    "/9j/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoKCgoKBggL" +
      "DAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK" +
      "CgoKCgoKCgoKCgoKCgr/wAARCAAIABADAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAAB//EABkQAAEF" +
      "AAAAAAAAAAAAAAAAAAAGCSYyo//EABYBAQEBAAAAAAAAAAAAAAAAAAgHCf/EABoRAAIDAQEAAAAAAAAAAAAA" +
      "AAAHIzKhQVH/2gAMAwEAAhEDEQA/ADtBNfUj2RemK27yaHVZvKkvnRrQTX1I7kA5itq8mmhSzeVJdP/Z",
  ),
  /** In several scans, as "jpeg" with colours at full resolution. */
  progressive: decode(
    "/9j/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoKCgoKBggL" +
      "DAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK" +
      "CgoKCgoKCgoKCgoKCgr/wgARCAAIABADAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAABv/EABYBAQEB" +
      "AAAAAAAAAAAAAAAAAAcGCP/aAAwDAQACEAMQAAABO3p01BtC/wD/xAAWEAADAAAAAAAAAAAAAAAAAAAABAf/" +
      "2gAIAQEAAQUCQl4hLz//xAAXEQEAAwAAAAAAAAAAAAAAAAAGACIx/9oACAEDAQE/ATLnLQy5y0//xAAXEQEA" +
      "AwAAAAAAAAAAAAAAAAAGACIx/9oACAECAQE/AUS3bREt20//xAAWEAADAAAAAAAAAAAAAAAAAAAANKH/2gAI" +
      "AQEABj8CXgvD/8QAFRABAQAAAAAAAAAAAAAAAAAAADH/2gAIAQEAAT8hgIL/2gAMAwEAAgADAAAAEBv/xAAX" +
      "EQEAAwAAAAAAAAAAAAAAAAAAQaHx/9oACAEDAQE/EKOWm//EABURAQEAAAAAAAAAAAAAAAAAAADx/9oACAEC" +
      "AQE/ELy0/8QAFBABAAAAAAAAAAAAAAAAAAAAEP/aAAgBAQABPxA/3//Z",
  ),
  webpLossy: decode(
    "UklGRnIAAABXRUJQVlA4IGYAAADQAwCdASoQAAgAAIAIJbACdLcApQH8A+wDdAPwA1P/dAATcPoGEQAA/v+h" +
      "6v4OlE9HO4G/ts5/mVn9SC+39bR//iYLi4jf++LiG1F/tL/8JXEH/8kuH0rQ/+QtD6Vof/o1qbGk6AA=",
  ),
  webpLossless: decode(
    "UklGRjYAAABXRUJQVlA4TCkAAAAvD8ABALmM6H/souyF73+ASNtmIobn3+nRuYK0DVgsod2Z55gAH6zhDgA=",
  ),
  /** With an alpha of twice the number of the pixel. */
  webpAlpha: decode(
    "UklGRjwAAABXRUJQVlA4TC8AAAAvD8ABELmM6H/souyF73+ASNtmIobn3+nRuYK0DVgsod2ZZ4FsivdImgAf" +
      "aA3fAQA=",
  ),
  /** Two frames, the second inverted. */
  webpAnimated: decode(
    "UklGRrQAAABXRUJQVlA4WAoAAAACAAAADwAABwAAQU5JTQYAAAD/////AABBTk1GQgAAAAAAAAAAAA8AAAcA" +
      "AGQAAAJWUDhMKQAAAC8PwAEAuYzof+yi7IXvf4BI22Yihuff6dG5grQNWCyh3ZnnmAAfrOEOAEFOTUY+AAAA" +
      "AAAAAAAADwAABwAAZAAAAFZQOEwlAAAALw/AAQC5jOh/7Mpf8sL3P0CkbTP/Mkcn5Oj86/Fn6Y8JCF79DgA=",
  ),
};

/** Two frames of 4 x 2 pixels: red, green, blue, yellow over the same backwards; then two others. */
export const GIF = decode(
  "R0lGODlhBAACAIEAAAD/AP//AP8AAAAA/yH/C05FVFNDQVBFMi4wAwEAAAAh+QQECgAAACwAAAAABAACAAAC" +
    "BRQWMSAFACH5BAUKAAAALAAAAAADAAIAgUxpcf//AP8AAAAAAAIDjIUFADs=",
);

function decode(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** How a PNG file is to be. */
export interface PngOptions {
  width?: number;
  height?: number;
  /** 0 grey, 2 colours, 3 palette, 4 grey with alpha, 6 colours with alpha. */
  colorType?: number;
  bitDepth?: number;
  /** Samples, row by row, as the filters left them. */
  data: readonly number[];
  /** Filter of each row. Default: none. */
  filters?: readonly number[];
  /** Chunks between header and data. */
  chunks?: readonly [name: string, data: Uint8Array][];
}

/** Writes a PNG file. */
export function pngFile(options: PngOptions): Uint8Array {
  const {
    width = WIDTH,
    height = HEIGHT,
    colorType = 2,
    bitDepth = 8,
    data,
    filters = [],
    chunks = [],
  } = options;
  const rowBytes = data.length / height;
  const rows = Array.from({ length: height }, (_, row) => [
    filters[row] ?? 0,
    ...data.slice(row * rowBytes, (row + 1) * rowBytes),
  ]);
  const header = Buffer.from([...new Uint8Array(8), bitDepth, colorType, 0, 0, 0]);
  header.writeUint32BE(width, 0);
  header.writeUint32BE(height, 4);
  return new Uint8Array(Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    ...chunks.map(([name, content]) => pngChunk(name, content)),
    pngChunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    pngChunk("IEND", new Uint8Array()),
  ]));
}

function pngChunk(name: string, data: Uint8Array): Uint8Array {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(name), data, Buffer.alloc(4)]);
  chunk.writeUint32BE(data.length, 0);
  chunk.writeUint32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

/** Writes the gradient as BMP with three bytes per pixel, from bottom to top or the other way. */
export function bmpFile(isTopDown: boolean): Uint8Array {
  const header = Buffer.alloc(54);
  header.write("BM");
  header.writeUint32LE(54, 10);
  header.writeUint32LE(40, 14);
  header.writeInt32LE(WIDTH, 18);
  header.writeInt32LE(isTopDown ? -HEIGHT : HEIGHT, 22);
  header.writeUint16LE(1, 26);
  header.writeUint16LE(24, 28);
  const rows = Array.from({ length: HEIGHT }, (_, row) => {
    const colors = GRADIENT.slice(row * WIDTH * 3, (row + 1) * WIDTH * 3);
    return Buffer.from(colors.map((_, at) => colors[at - at % 3 + 2 - at % 3]));
  });
  return new Uint8Array(Buffer.concat([header, ...isTopDown ? rows : rows.toReversed()]));
}

/** EXIF data that only says the orientation. */
export function exif(orientation: number, isLittleEndian = false): Uint8Array {
  const view = new DataView(new ArrayBuffer(26));
  view.setUint16(0, isLittleEndian ? 0x4949 : 0x4d4d);
  view.setUint16(2, 42, isLittleEndian);
  view.setUint32(4, 8, isLittleEndian);
  view.setUint16(8, 1, isLittleEndian);
  view.setUint16(10, 0x0112, isLittleEndian);
  view.setUint16(12, 3, isLittleEndian);
  view.setUint32(14, 1, isLittleEndian);
  view.setUint16(18, orientation, isLittleEndian);
  return new Uint8Array(view.buffer);
}

/** The baseline JPEG with an orientation. */
export function jpegFile(orientation: number): Uint8Array {
  const data = exif(orientation);
  const head = [0xff, 0xe1, 0, data.length + 8, ...new TextEncoder().encode("Exif\0\0")];
  return Uint8Array.from([...FILES.jpeg.slice(0, 2), ...head, ...data, ...FILES.jpeg.slice(2)]);
}

/** The lossless WebP with an orientation. */
export function webpFile(orientation: number): Uint8Array {
  const extended = Buffer.alloc(10);
  extended[0] = 0x08;
  extended[4] = WIDTH - 1;
  extended[7] = HEIGHT - 1;
  const content = Buffer.concat([
    Buffer.from("WEBP"),
    webpChunk("VP8X", extended),
    FILES.webpLossless.slice(12),
    webpChunk("EXIF", exif(orientation)),
  ]);
  return webpChunk("RIFF", content);
}

/** Writes a chunk of an even length, or a file of them. */
export function webpChunk(name: string, data: Uint8Array): Uint8Array {
  const header = Buffer.alloc(8);
  header.write(name);
  header.writeUint32LE(data.length, 4);
  return new Uint8Array(Buffer.concat([header, data]));
}
