// From coefficients to samples: the inverse cosine transform of 8 x 8 blocks in integer arithmetic.
// As in stb_image, which llama.cpp uses, factors have 12 fractional bits and results of the first
// pass keep two. The algorithm: Loeffler, Ligtenberg and Moschytz, 1989.

import { pollCancellation } from "../../../cancellation.ts";
import { BLOCK_LENGTH, BLOCK_SIDE, type Component } from "./frame.ts";

/** A factor with 12 fractional bits, rounded, halves up. */
function fixed(factor: number): number {
  return Math.trunc(factor * 4096 + 0.5);
}

const C_0_541 = fixed(0.5411961);
const C_1_847 = fixed(-1.847759065);
const C_0_765 = fixed(0.765366865);
const C_1_175 = fixed(1.175875602);
const C_0_298 = fixed(0.298631336);
const C_2_053 = fixed(2.053119869);
const C_3_072 = fixed(3.072711026);
const C_1_501 = fixed(1.50132111);
const C_0_899 = fixed(-0.899976223);
const C_2_562 = fixed(-2.562915447);
const C_1_961 = fixed(-1.96157056);
const C_0_390 = fixed(-0.390180644);

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
