// Q3_K: 256 weights as a half d, a 6-bit scale s per 16 weights and 3-bit codes q,
// weight = d * (s - 32) * (q - 4).
// Block: 32 bytes, bit g of byte i the third bit of weight 32g + i; 64 bytes, of which byte 32h + i
// holds the low bits of weights 128h + i, + 32, + 64 and + 96; 12 bytes of scales; d (2 bytes).

import shader from "./q3_k.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 256 weights of 3 bits with a scale per 16. */
export const q3_k: QuantFormat = {
  name: "Q3_K",
  ggmlType: 11,
  blockSize: 256,
  blockBytes: 110,
  planes: [
    { name: "high", type: "u32", bytesPerBlock: 32, arrangement: "1-bit fields" },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "scales", type: "vec4<u32>", bytesPerBlock: 16, fieldBytes: 14 },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 4,
  uniformGroup: false,
  partOfRow: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(q3_k, source, blocks, (block, weights) => {
      const d = block.getFloat16(108, true);
      for (let i = 0; i < 256; i++) {
        const low = block.getUint8(32 + (i >> 7) * 32 + i % 32) >> 2 * ((i >> 5) % 4) & 3;
        const high = block.getUint8(i % 32) >> (i >> 5) & 1;
        weights[i] = d * (scaleOf(block, i >> 4) - 32) * ((low | high << 2) - 4);
      }
    });
  },
};

/** Scale 0 to 15: the low four bits are in bytes 0 to 7 of the twelve, the high two in 8 to 11. */
function scaleOf(block: DataView, index: number): number {
  const low = block.getUint8(96 + index % 8) >> 4 * (index >> 3) & 15;
  const high = block.getUint8(104 + index % 4) >> 2 * (index >> 2) & 3;
  return low | high << 4;
}
