// From coefficients to samples: the inverse cosine transform of 8 x 8 blocks in integer arithmetic.
// As in stb_image, which llama.cpp uses, factors have 12 fractional bits and results of the first
// pass keep two. The algorithm: Loeffler, Ligtenberg and Moschytz, 1989.

import { pollCancellation } from "../../../cancellation.ts";
import type { Image } from "../image.ts";
import { BLOCK_LENGTH, BLOCK_SIDE, type Component, type Frame } from "./frame.ts";

/** A factor with 12 fractional bits, rounded, halves up. */
function multiple(factor: number): number {
  return Math.trunc(factor * 4096 + 0.5);
}

const C_0_541 = multiple(0.5411961);
const C_1_847 = multiple(-1.847759065);
const C_0_765 = multiple(0.765366865);
const C_1_175 = multiple(1.175875602);
const C_0_298 = multiple(0.298631336);
const C_2_053 = multiple(2.053119869);
const C_3_072 = multiple(3.072711026);
const C_1_501 = multiple(1.50132111);
const C_0_899 = multiple(-0.899976223);
const C_2_562 = multiple(-2.562915447);
const C_1_961 = multiple(-1.96157056);
const C_0_390 = multiple(-0.390180644);

/** Added for rounding in the first pass, which keeps two of twelve fractional bits. */
const COLUMN_ROUNDING = 512;
const COLUMN_BITS = 10;
/** Added in the second pass: for rounding, and to move samples from around zero to 0 … 255. */
const ROW_ROUNDING = (1 << 16) + (128 << 17);
const ROW_BITS = 17;

/**
 * Transforms all blocks of a component.
 *
 * @param component a component with coefficients
 * @param factors quantization table, in the order of a block: [64]
 * @returns samples: [rows * 8, columns * 8]
 */
export function inverseTransform(
  { columns, rows, coefficients }: Component,
  factors: Uint16Array,
): Uint8ClampedArray {
  const stride = columns * BLOCK_SIDE;
  const samples = new Uint8ClampedArray(stride * rows * BLOCK_SIDE);
  const block = new Int32Array(BLOCK_LENGTH);
  const line = new Int32Array(BLOCK_SIDE);
  for (let row = 0, offset = 0; row < rows; row++) {
    pollCancellation();
    for (let column = 0; column < columns; column++, offset += BLOCK_LENGTH) {
      for (let at = 0; at < BLOCK_LENGTH; at++) {
        // Truncated to sixteen bits, as in stb_image.
        block[at] = coefficients[offset + at] * factors[at] << 16 >> 16;
      }
      for (let x = 0; x < BLOCK_SIDE; x++) {
        transform(block, x, BLOCK_SIDE, COLUMN_ROUNDING, line);
        for (let y = 0; y < BLOCK_SIDE; y++) block[y * BLOCK_SIDE + x] = line[y] >> COLUMN_BITS;
      }
      for (let y = 0; y < BLOCK_SIDE; y++) {
        transform(block, y * BLOCK_SIDE, 1, ROW_ROUNDING, line);
        const target = (row * BLOCK_SIDE + y) * stride + column * BLOCK_SIDE;
        for (let x = 0; x < BLOCK_SIDE; x++) samples[target + x] = line[x] >> ROW_BITS;
      }
    }
  }
  return samples;
}

/**
 * Transforms eight values at distances of `step`. The results in `line` have 12 more fractional
 * bits.
 */
function transform(
  values: Int32Array,
  start: number,
  step: number,
  rounding: number,
  line: Int32Array,
): void {
  const s0 = values[start];
  const s1 = values[start + step];
  const s2 = values[start + 2 * step];
  const s3 = values[start + 3 * step];
  const s4 = values[start + 4 * step];
  const s5 = values[start + 5 * step];
  const s6 = values[start + 6 * step];
  const s7 = values[start + 7 * step];

  // The even half.
  const turn = Math.imul(s2 + s6, C_0_541);
  const e2 = turn + Math.imul(s6, C_1_847);
  const e3 = turn + Math.imul(s2, C_0_765);
  const e0 = (s0 + s4 << 12) + rounding;
  const e1 = (s0 - s4 << 12) + rounding;
  const [a0, a1, a2, a3] = [e0 + e3, e1 + e2, e1 - e2, e0 - e3];

  // The odd half.
  const all = Math.imul(s1 + s3 + s5 + s7, C_1_175);
  const p1 = all + Math.imul(s7 + s1, C_0_899);
  const p2 = all + Math.imul(s5 + s3, C_2_562);
  const p3 = Math.imul(s7 + s3, C_1_961);
  const p4 = Math.imul(s5 + s1, C_0_390);
  const b0 = Math.imul(s1, C_1_501) + p1 + p4;
  const b1 = Math.imul(s3, C_3_072) + p2 + p3;
  const b2 = Math.imul(s5, C_2_053) + p2 + p4;
  const b3 = Math.imul(s7, C_0_298) + p1 + p3;

  line[0] = a0 + b0;
  line[7] = a0 - b0;
  line[1] = a1 + b1;
  line[6] = a1 - b1;
  line[2] = a2 + b2;
  line[5] = a2 - b2;
  line[3] = a3 + b3;
  line[4] = a3 - b3;
}

// From the components of a JPEG file to red, green and blue: ITU-T T.871 (JFIF), section 7. Factors
// have 12 fractional bits and results are truncated, as in stb_image.

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

// Scales chrominance from half the resolution to that of the picture. Each sample is made of the
// nearest two in each direction, weighted three to one, in integer arithmetic as in stb_image.

/** The rows of a component at the resolution of the picture. */
interface SampleRows {
  /** Samples of a row, at least as many as the picture is wide. Valid until the next call. */
  row(y: number): Uint8ClampedArray;
}

/** Number of rows and columns of the picture that a sample covers. */
interface Factors {
  readonly across: number;
  readonly down: number;
}

/**
 * The rows of a component at the resolution of the picture.
 *
 * @param component the samples' shape
 * @param samples [rows * 8, columns * 8]
 * @param frame the frame of the component
 */
export function upsample(
  component: Component,
  samples: Uint8ClampedArray,
  frame: Frame,
): SampleRows {
  const stride = component.columns * BLOCK_SIDE;
  const factors = {
    across: Math.floor(frame.maxHorizontal / component.horizontal),
    down: Math.floor(frame.maxVertical / component.vertical),
  };
  const width = Math.ceil(frame.width / factors.across);
  const last = component.height - 1;
  const target = new Uint8ClampedArray(width * factors.across);
  const resample = resamplerOf(factors);
  const rowAt = (y: number) => {
    const start = Math.min(Math.max(y, 0), last) * stride;
    return samples.subarray(start, start + stride);
  };
  return {
    row(y) {
      const nearest = Math.floor(y / factors.down);
      const isUpper = y % factors.down < factors.down >> 1;
      resample(target, rowAt(nearest), rowAt(isUpper ? nearest - 1 : nearest + 1), width, factors);
      return target;
    },
  };
}

/** Makes a row of the picture from the row that covers it and the next nearest one. */
type Resampler = (
  target: Uint8ClampedArray,
  near: Uint8ClampedArray,
  far: Uint8ClampedArray,
  width: number,
  factors: Factors,
) => void;

function resamplerOf({ across, down }: Factors): Resampler {
  if (across === 1 && down === 2) return resampleDown;
  if (across === 2 && down === 1) return resampleAcross;
  if (across === 2 && down === 2) return resampleBoth;
  return repeat;
}

const repeat: Resampler = (target, near, _far, width, { across }) => {
  for (let at = 0; at < width * across; at++) target[at] = near[Math.floor(at / across)];
};

const resampleDown: Resampler = (target, near, far, width) => {
  for (let at = 0; at < width; at++) target[at] = 3 * near[at] + far[at] + 2 >> 2;
};

const resampleAcross: Resampler = (target, near, _far, width) => {
  const last = width - 1;
  for (let at = 1; at < last; at++) {
    const own = 3 * near[at] + 2;
    target[2 * at] = own + near[at - 1] >> 2;
    target[2 * at + 1] = own + near[at + 1] >> 2;
  }
  target[0] = near[0];
  target[2 * last + 1] = near[last];
  if (last === 0) return;
  target[1] = 3 * near[0] + near[1] + 2 >> 2;
  // The weights are swapped here, as in stb_image.
  target[2 * last] = 3 * near[last - 1] + near[last] + 2 >> 2;
};

const resampleBoth: Resampler = (target, near, far, width) => {
  let own = 3 * near[0] + far[0];
  target[0] = own + 2 >> 2;
  for (let at = 1; at < width; at++) {
    const before = own;
    own = 3 * near[at] + far[at];
    target[2 * at - 1] = 3 * before + own + 8 >> 4;
    target[2 * at] = 3 * own + before + 8 >> 4;
  }
  target[2 * width - 1] = own + 2 >> 2;
};
