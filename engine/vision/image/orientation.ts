// The orientation of a picture: reading it from EXIF data, and turning pixels upright. The format:
// CIPA DC-008 (EXIF), tag 0x0112, in a directory of TIFF 6.0, section 2.

import { pollCancellation } from "../../cancellation.ts";
import type { Image, Size } from "./image.ts";

/** The orientation of pictures that are upright. */
export const UPRIGHT = 1;

const ORIENTATION_TAG = 0x0112;
const ENTRY_BYTES = 12;

/**
 * The orientation in EXIF data.
 *
 * @param exif from its byte order mark on
 * @returns from 1 to 8; 1 if the data has none or is damaged
 */
export function readOrientation(exif: Uint8Array): number {
  const view = new DataView(exif.buffer, exif.byteOffset, exif.byteLength);
  try {
    const isLittleEndian = view.getUint16(0) === 0x4949;
    const directory = view.getUint32(4, isLittleEndian);
    const entries = view.getUint16(directory, isLittleEndian);
    for (let index = 0; index < entries; index++) {
      const entry = directory + 2 + index * ENTRY_BYTES;
      if (view.getUint16(entry, isLittleEndian) !== ORIENTATION_TAG) continue;
      const value = view.getUint16(entry + 8, isLittleEndian);
      return value >= 1 && value <= 8 ? value : UPRIGHT;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return UPRIGHT;
}

/** The size of a picture that was turned upright. */
export function uprightSize({ width, height }: Size, orientation: number): Size {
  return isTransposed(orientation) ? { width: height, height: width } : { width, height };
}

/** Whether rows become columns. */
function isTransposed(orientation: number): boolean {
  return orientation >= 5;
}

/**
 * Rotates and mirrors a picture so that it is upright.
 *
 * @param image as it is stored
 * @param orientation from 1 to 8, as EXIF counts
 */
export function turnUpright(image: Image, orientation: number): Image {
  if (orientation === UPRIGHT) return image;
  const isMirrored = [2, 3, 7, 8].includes(orientation);
  const isFlipped = [3, 4, 6, 7].includes(orientation);

  // Where the first pixel comes from, and the distances between rows and columns in the stored
  // picture.
  const columnStep = isMirrored ? -1 : 1;
  const rowStep = (isFlipped ? -1 : 1) * image.width;
  const first = (isMirrored ? image.width - 1 : 0) +
    (isFlipped ? (image.height - 1) * image.width : 0);
  const [acrossStep, downStep] = isTransposed(orientation)
    ? [rowStep, columnStep]
    : [columnStep, rowStep];

  const { width, height } = uprightSize(image, orientation);
  const pixels = new Uint8Array(image.pixels.length);
  for (let row = 0, at = 0; row < height; row++) {
    pollCancellation();
    let source = (first + row * downStep) * 3;
    for (let column = 0; column < width; column++, at += 3, source += acrossStep * 3) {
      pixels[at] = image.pixels[source];
      pixels[at + 1] = image.pixels[source + 1];
      pixels[at + 2] = image.pixels[source + 2];
    }
  }
  return { width, height, pixels };
}
