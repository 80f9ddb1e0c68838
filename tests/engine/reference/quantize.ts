// f32 weights to blocks of two integer formats, one without and one with a minimum: rounded to the
// nearest code, as simple as the formats allow. Layouts as in ggml-common.h. Activations likewise.

import type { Vector } from "./numbers.ts";

/** Weights per block of both formats. */
const BLOCK = 32;

/** How a block is written. */
interface Encoder {
  bytes: number;
  /** Fills a block; gives the weights that it stands for. */
  encode(weights: Float32Array, block: DataView): Float32Array;
}

const ENCODERS = {
  Q8_0: {
    bytes: 34,
    encode(weights, block) {
      block.setFloat16(0, Math.max(...weights.map(Math.abs)) / 127, true);
      const scale = block.getFloat16(0, true);
      return weights.map((weight, i) => {
        const code = Math.max(-127, Math.min(127, Math.round(weight / scale)));
        block.setInt8(2 + i, code);
        return scale * code;
      });
    },
  },
  Q4_1: {
    bytes: 20,
    encode(weights, block) {
      const least = Math.min(...weights);
      block.setFloat16(0, (Math.max(...weights) - least) / 15, true);
      block.setFloat16(2, least, true);
      const [scale, minimum] = [block.getFloat16(0, true), block.getFloat16(2, true)];
      const codes = weights.map((weight) => {
        return Math.max(0, Math.min(15, Math.round((weight - minimum) / scale)));
      });
      for (let i = 0; i < 16; i++) block.setUint8(4 + i, codes[i] | codes[i + 16] << 4);
      return codes.map((code) => scale * code + minimum);
    },
  },
} satisfies Record<string, Encoder>;

/** A format that weights can be quantized to. */
export type QuantizedType = keyof typeof ENCODERS;

/** Blocks of weights, whose number is a multiple of 32, and what they stand for. */
export function quantize(
  type: QuantizedType,
  weights: Float32Array,
): { bytes: Uint8Array<ArrayBuffer>; values: Float32Array } {
  const { bytes: blockBytes, encode } = ENCODERS[type];
  const bytes = new Uint8Array(weights.length / BLOCK * blockBytes);
  const values = new Float32Array(weights.length);
  for (let i = 0; i < weights.length / BLOCK; i++) {
    const block = new DataView(bytes.buffer, i * blockBytes, blockBytes);
    values.set(encode(weights.subarray(i * BLOCK, (i + 1) * BLOCK), block), i * BLOCK);
  }
  return { bytes, values };
}

/** What is left of an activation that is rounded to int8 codes in groups of 32, each with a scale. */
export function roundActivation(x: Vector): Vector {
  const groups = Array.from({ length: Math.ceil(x.length / BLOCK) }, (_, i) => {
    return x.slice(i * BLOCK, (i + 1) * BLOCK);
  });
  return groups.flatMap((group) => {
    const scale = Math.max(...group.map(Math.abs)) / 127;
    return group.map((value) => scale === 0 ? 0 : scale * Math.round(value / scale));
  });
}
