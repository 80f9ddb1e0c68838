// Q1_0: 128 weights as a half d and one bit each, weight = d where it is set, -d where not.
// Block: d (2 bytes); 16 bytes, bit i of byte b for weight 8b + i.

import shader from "./q1_0.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 128 weights of 1 bit with one scale. */
export const q1_0: QuantFormat = {
  name: "Q1_0",
  ggmlType: 41,
  blockSize: 128,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 16, arrangement: "spread bits" },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 1,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q1_0, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let i = 0; i < 128; i++) {
        weights[i] = block.getUint8(2 + (i >> 3)) >> i % 8 & 1 ? d : -d;
      }
    });
  },
};
