// Q5_1: 32 weights as halves d and m and 5-bit codes q, weight = d * q + m.
// Block: d, m (2 bytes each); a word whose bit i is the fifth bit of weight i; 16 bytes, byte i
// with the low bits of weight i in its low nibble, of i + 16 above.

import fifthBitsShader from "./fifth_bits.wgsl" with { type: "text" };
import shader from "./q5_1.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 32 weights of 5 bits with one scale and one minimum. */
export const q5_1: QuantFormat = {
  name: "Q5_1",
  ggmlType: 7,
  blockSize: 32,
  blockBytes: 24,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 4 },
    { name: "high", type: "u32", bytesPerBlock: 4, arrangement: "spread bits" },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  kind: "integer",
  hasMinimum: true,
  uniformGroup: true,
  snippet: fifthBitsShader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(q5_1, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      const m = block.getFloat16(2, true);
      const high = block.getUint32(4, true);
      for (let i = 0; i < 16; i++) {
        const codes = block.getUint8(8 + i);
        weights[i] = d * (codes & 15 | (high >> i & 1) << 4) + m;
        weights[i + 16] = d * (codes >> 4 | (high >> (i + 16) & 1) << 4) + m;
      }
    });
  },
};
