// IQ1_M: 256 weights as a half d, a 3-bit scale s per 16 weights and, per 8, a vector of a codebook
// and a sign, weight = d * (2 * s + 1) * (component +- 1/8).
// Block: 32 bytes, the low bits of the numbers of the vectors; 16 bytes, a nibble per vector: three
// high bits of its number, and the top bit set for minus; 8 bytes as four halves h: s of four times 16
// weights in their lower twelve bits; the top nibbles are d, the lowest first.

import iq1Shader from "./iq1.wgsl" with { type: "text" };
import shader from "./iq1_m.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import { iq1Codebook, iq1Vectors } from "./codebooks/iq1.ts";
import type { QuantFormat } from "./format.ts";

/** 256 weights of 1.75 bits; a scale per 16. */
export const iq1_m: QuantFormat = {
  name: "IQ1_M",
  ggmlType: 29,
  blockSize: 256,
  blockBytes: 56,
  planes: [
    { name: "quants", type: "u32", bytesPerBlock: 56 },
  ],
  codebook: iq1Codebook,
  kind: "integer",
  hasMinimum: false,
  uniformGroup: false,
  snippet: iq1Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq1_m, source, blocks, (block, weights) => {
      const d = factorOf(block);
      for (let i = 0; i < 256; i++) {
        const run = i >> 3;
        const header = block.getUint8(32 + (run >> 1)) >> 4 * (run % 2);
        const number = block.getUint8(run) | (header & 7) << 8;
        const step = block.getUint16(48 + 2 * (i >> 6), true) >> 3 * (i >> 4 & 3) & 7;
        const delta = header & 8 ? -1 / 8 : 1 / 8;
        weights[i] = d * (2 * step + 1) * (iq1Vectors[8 * number + i % 8] + delta);
      }
    });
  },
};

/** The half whose four nibbles are the top nibbles of the last four pairs of bytes. */
function factorOf(block: DataView): number {
  const bits = new DataView(new ArrayBuffer(2));
  for (let i = 0; i < 4; i++) {
    const nibble = block.getUint8(49 + 2 * i) >> 4;
    bits.setUint16(0, bits.getUint16(0) | nibble << 4 * i);
  }
  return bits.getFloat16(0);
}
