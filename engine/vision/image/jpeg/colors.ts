// From the components of a JPEG file to red, green and blue: ITU-T T.871 (JFIF), section 7. Factors
// have 12 fractional bits and results are truncated, as in stb_image.

import { pollCancellation } from "../../../cancellation.ts";
import type { Image } from "../image.ts";
import type { Frame } from "./frame.ts";
import type { SampleRows } from "./upsampling.ts";

/** A factor with 12 fractional bits, shifted left by 8. */
function fixed(factor: number): number {
  return Math.trunc(factor * 4096 + 0.5) << 8;
}

const FRACTION_BITS = 20;
const RED_OF_CR = fixed(1.402);
const GREEN_OF_CR = fixed(0.71414);
const GREEN_OF_CB = fixed(0.34414);
const BLUE_OF_CB = fixed(1.772);
/** Mask of the bits that stb_image keeps of the product of Cb for green. */
const KEPT_BITS = 0xffff0000;

/** A picture of one component, which is grey. */
export function greyImage({ width, height }: Frame, [grey]: readonly SampleRows[]): Image {
  return paint(width, height, (y, pixels, start) => {
    const samples = grey.row(y);
    for (let x = 0, at = start; x < width; x++, at += 3) {
      pixels[at] = pixels[at + 1] = pixels[at + 2] = samples[x];
    }
  });
}

/** A picture of three components that are red, green and blue. */
export function rgbImage({ width, height }: Frame, components: readonly SampleRows[]): Image {
  return paint(width, height, (y, pixels, start) => {
    for (const [channel, component] of components.entries()) {
      const samples = component.row(y);
      for (let x = 0; x < width; x++) pixels[start + x * 3 + channel] = samples[x];
    }
  });
}

/** A picture of luminance and two chrominances. */
export function yccImage({ width, height }: Frame, components: readonly SampleRows[]): Image {
  return paint(width, height, (y, pixels, start) => {
    const [luminances, blues, reds] = components.map((component) => component.row(y));
    for (let x = 0, at = start; x < width; x++, at += 3) {
      const luminance = (luminances[x] << FRACTION_BITS) + (1 << FRACTION_BITS - 1);
      const cb = blues[x] - 128;
      const cr = reds[x] - 128;
      const green = luminance - cr * GREEN_OF_CR + (-cb * GREEN_OF_CB & KEPT_BITS);
      pixels[at] = luminance + cr * RED_OF_CR >> FRACTION_BITS;
      pixels[at + 1] = green >> FRACTION_BITS;
      pixels[at + 2] = luminance + cb * BLUE_OF_CB >> FRACTION_BITS;
    }
  });
}

/** Makes a picture row by row. Bytes are clamped when they are stored. */
function paint(
  width: number,
  height: number,
  paintRow: (y: number, pixels: Uint8ClampedArray, start: number) => void,
): Image {
  const pixels = new Uint8ClampedArray(width * height * 3);
  for (let y = 0; y < height; y++) {
    pollCancellation();
    paintRow(y, pixels, y * width * 3);
  }
  return { width, height, pixels: new Uint8Array(pixels.buffer) };
}
