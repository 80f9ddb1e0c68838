// IQ1_S: 256 weights as a half d, per 32 weights four vectors of a codebook, a 3-bit scale s and a
// sign, weight = d * (2 * s + 1) * (component +- 1/8).
// Block: d (2 bytes); 32 bytes, the low bits of the numbers of the vectors; eight times 2 bytes: three
// high bits of each number from the low bits up, s, and the top bit set for minus.

import iq1Shader from "./iq1.wgsl" with { type: "text" };
import shader from "./iq1_s.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import { iq1Codebook, iq1Vectors } from "./codebooks/iq1.ts";
import type { QuantFormat } from "./format.ts";

/** 256 weights of 1.56 bits; a scale per 32. */
export const iq1_s: QuantFormat = {
  name: "IQ1_S",
  ggmlType: 19,
  blockSize: 256,
  blockBytes: 50,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 48 },
  ],
  codebook: iq1Codebook,
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  snippet: iq1Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq1_s, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let i = 0; i < 256; i++) {
        const header = block.getUint16(34 + 2 * (i >> 5), true);
        const run = i >> 3;
        const number = block.getUint8(2 + run) | (header >> 3 * (run % 4) & 7) << 8;
        const scale = d * (2 * (header >> 12 & 7) + 1);
        const delta = header >> 15 ? -1 / 8 : 1 / 8;
        weights[i] = scale * (iq1Vectors[8 * number + i % 8] + delta);
      }
    });
  },
};
