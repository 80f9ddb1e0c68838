// Q4_0: 32 weights as a half d and 4-bit codes q, weight = d * (q - 8).
// Block: d (2 bytes); 16 bytes, byte i with q of weight i in its low nibble, of i + 16 above.

import shader from "./q4_0.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 32 weights of 4 bits with one scale. */
export const q4_0: QuantFormat = {
  name: "Q4_0",
  ggmlType: 2,
  blockSize: 32,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 8,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q4_0, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let i = 0; i < 16; i++) {
        const codes = block.getUint8(2 + i);
        weights[i] = d * ((codes & 15) - 8);
        weights[i + 16] = d * ((codes >> 4) - 8);
      }
    });
  },
};
