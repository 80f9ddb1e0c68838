// Q4_1: 32 weights as halves d and m and 4-bit codes q, weight = d * q + m.
// Block: d, m (2 bytes each); 16 bytes, byte i with q of weight i in its low nibble, of i + 16
// above.

import shader from "./q4_1.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 32 weights of 4 bits with one scale and one minimum. */
export const q4_1: QuantFormat = {
  name: "Q4_1",
  ggmlType: 3,
  blockSize: 32,
  blockBytes: 20,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 4 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  kind: "integer",
  hasMinimum: true,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q4_1, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      const m = block.getFloat16(2, true);
      for (let i = 0; i < 16; i++) {
        const codes = block.getUint8(4 + i);
        weights[i] = d * (codes & 15) + m;
        weights[i + 16] = d * (codes >> 4) + m;
      }
    });
  },
};
