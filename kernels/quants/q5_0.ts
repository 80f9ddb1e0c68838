// Q5_0: 32 weights as a half d and 5-bit codes q, weight = d * (q - 16).
// Block: d (2 bytes); a word whose bit i is the fifth bit of weight i; 16 bytes, byte i with the
// low bits of weight i in its low nibble, of i + 16 above.

import fifthBitsShader from "./fifth_bits.wgsl" with { type: "text" };
import shader from "./q5_0.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** 32 weights of 5 bits with one scale. */
export const q5_0: QuantFormat = {
  name: "Q5_0",
  ggmlType: 6,
  blockSize: 32,
  blockBytes: 22,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "high", type: "u32", bytesPerBlock: 4, arrangement: "spread bits" },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 16,
  uniformGroup: true,
  snippet: fifthBitsShader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(q5_0, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      const high = block.getUint32(2, true);
      for (let i = 0; i < 16; i++) {
        const codes = block.getUint8(6 + i);
        weights[i] = d * ((codes & 15 | (high >> i & 1) << 4) - 16);
        weights[i + 16] = d * ((codes >> 4 | (high >> (i + 16) & 1) << 4) - 16);
      }
    });
  },
};
