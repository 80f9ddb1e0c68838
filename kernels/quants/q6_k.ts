// Q6_K: 256 weights as a half d, a signed byte scale s per 16 weights and 6-bit codes q,
// weight = d * s * (q - 32).
// Block, in halves h of 128 weights: 128 bytes, of which byte 64h + i holds the low bits of weight
// 128h + i in its low nibble and of 128h + 64 + i above; 64 bytes, of which byte 32h + i holds the
// high bits of weights 128h + i, + 32, + 64 and + 96; 16 bytes s; d (2 bytes).

import shader from "./q6_k.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 256 weights of 6 bits with a scale per 16. */
export const q6_k: QuantFormat = {
  name: "Q6_K",
  ggmlType: 14,
  blockSize: 256,
  blockBytes: 210,
  planes: [
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128, arrangement: "4-bit fields by group" },
    { name: "high", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "scales", type: "u32", bytesPerBlock: 20, fieldBytes: 18 },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 32,
  uniformGroup: false,
  partOfRow: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q6_k, source, blocks, (block, weights) => {
      const d = block.getFloat16(208, true);
      for (let i = 0; i < 256; i++) {
        const half = i >> 7;
        const low = block.getUint8(half * 64 + i % 64) >> 4 * ((i >> 6) % 2) & 15;
        const high = block.getUint8(128 + half * 32 + i % 32) >> 2 * ((i >> 5) % 4) & 3;
        weights[i] = d * block.getInt8(192 + (i >> 4)) * ((low | high << 4) - 32);
      }
    });
  },
};
