// Recognizes the format of a picture: supported ones, and others by their name, for the error.

import { ImageError } from "../image.ts";
import { checkBmp } from "./bmp.ts";
import { checkGif } from "./gif.ts";
import { checkJpeg } from "./jpeg.ts";
import { checkPng } from "./png.ts";
import type { Traits } from "./traits.ts";
import { checkWebp } from "./webp.ts";

export type { Traits } from "./traits.ts";

/** Formats by their first bytes, as Latin-1; a dot stands for any byte. */
const FORMATS: [start: RegExp, check: (bytes: Uint8Array) => Traits][] = [
  [/^\x89PNG\r\n.\n/s, checkPng],
  [/^\xff\xd8\xff/, checkJpeg],
  [/^RIFF....WEBP/s, checkWebp],
  [/^GIF8[79]a/, checkGif],
  [/^BM/, checkBmp],
];

const OTHERS: [start: RegExp, name: string][] = [
  [/^....ftypavi[fs]/s, "AVIF"],
  [/^....ftyp(?:hei[cmsx]|hev[cmsx]|mif1|msf1)/s, "HEIC"],
  [/^(?:II[*+]\0|MM\0[*+])/, "TIFF"],
  [/^(?:\xef\xbb\xbf)?\s*<(?:svg\b|(?:\?xml|!--|!DOCTYPE)[^]*<svg\b)/i, "SVG"],
  [/^(?:\xff\n|\0\0\0\fJXL )/, "JPEG XL"],
  [/^(?:\xff\x4f\xff\x51|\0\0\0\fjP )/, "JPEG 2000"],
  [/^\0\0[^\0]\0/, "ICO"],
  [/^%PDF-/, "PDF"],
];

/** Bytes of a file in which the pattern is searched. */
const START_BYTES = 1024;

/**
 * Recognizes the format, and checks that the file is complete and of an allowed size.
 *
 * @throws {ImageError} if it is not, or if the format is not supported
 */
export function checkFormat(bytes: Uint8Array): Traits {
  if (bytes.length === 0) throw new ImageError("it is empty");
  const start = String.fromCharCode(...bytes.subarray(0, START_BYTES));
  const check = FORMATS.find(([pattern]) => pattern.test(start))?.[1];
  if (check) return check(bytes);

  const other = OTHERS.find(([pattern]) => pattern.test(start))?.[1];
  throw new ImageError(
    `${other ? `it is ${other}` : "its bytes are of no known format"}; ` +
      "PNG, JPEG, WebP, GIF and BMP are read",
  );
}
