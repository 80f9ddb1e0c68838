// Q2_0: 64 weights as a half d and 2-bit codes q, weight = d * (q - 1).
// Block: d (2 bytes); 16 bytes, byte b with q of weights 4b to 4b + 3 from the low bits up.

import shader from "./q2_0.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 64 weights of 2 bits with one scale. */
export const q2_0: QuantFormat = {
  name: "Q2_0",
  ggmlType: 42,
  blockSize: 64,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 16, arrangement: "quarters" },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 1,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q2_0, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let i = 0; i < 64; i++) {
        weights[i] = d * ((block.getUint8(2 + (i >> 2)) >> 2 * (i % 4) & 3) - 1);
      }
    });
  },
};
