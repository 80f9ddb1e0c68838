// Q2_K: 256 weights as halves d and dmin, a 4-bit scale s and minimum m per 16 weights, and 2-bit
// codes q, weight = d * s * q - dmin * m.
// Block: 16 bytes with s in the low nibble, m above; 64 bytes q, of which byte 32h + i holds
// weights 128h + i, + 32, + 64 and + 96 from the low bits up; d, dmin (2 bytes each).

import shader from "./q2_k.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 256 weights of 2 bits; a scale and a minimum per 16. */
export const q2_k: QuantFormat = {
  name: "Q2_K",
  ggmlType: 10,
  blockSize: 256,
  blockBytes: 84,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 16 },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "factors", type: "u32", bytesPerBlock: 4 },
  ],
  kind: "integer",
  hasMinimum: true,
  uniformGroup: false,
  partOfRow: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q2_k, source, blocks, (block, weights) => {
      const d = block.getFloat16(80, true);
      const dmin = block.getFloat16(82, true);
      for (let i = 0; i < 256; i++) {
        const steps = block.getUint8(i >> 4);
        const codes = block.getUint8(16 + (i >> 7) * 32 + i % 32);
        const code = codes >> 2 * ((i >> 5) % 4) & 3;
        weights[i] = d * (steps & 15) * code - dmin * (steps >> 4);
      }
    });
  },
};
