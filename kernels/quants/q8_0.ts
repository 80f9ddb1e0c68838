// Q8_0: 32 weights as a half d and signed bytes q, weight = d * q.
// Block: d (2 bytes); 32 bytes q.

import shader from "./q8_0.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 32 weights of 8 bits with one scale. */
export const q8_0: QuantFormat = {
  name: "Q8_0",
  ggmlType: 8,
  blockSize: 32,
  blockBytes: 34,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 32 },
  ],
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q8_0, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let i = 0; i < 32; i++) weights[i] = d * block.getInt8(2 + i);
    });
  },
};
