// TQ2_0: 256 weights as a half d and 2-bit codes q, weight = d * (q - 1).
// Block: 64 bytes q, of which byte 32h + i holds weights 128h + i, + 32, + 64 and + 96 from the low
// bits up; d (2 bytes).

import shader from "./tq2_0.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 256 weights of 2 bits, meant for -1, 0 and 1, with one scale. */
export const tq2_0: QuantFormat = {
  name: "TQ2_0",
  ggmlType: 35,
  blockSize: 256,
  blockBytes: 66,
  planes: [
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "scales", type: "u32", bytesPerBlock: 2 },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 1,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(tq2_0, source, blocks, (block, weights) => {
      const d = block.getFloat16(64, true);
      for (let i = 0; i < 256; i++) {
        const codes = block.getUint8((i >> 7) * 32 + i % 32);
        weights[i] = d * ((codes >> 2 * ((i >> 5) % 4) & 3) - 1);
      }
    });
  },
};
