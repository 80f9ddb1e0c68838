// Q4_K: 256 weights as halves d and dmin, a 6-bit scale s and minimum m per 32 weights, and 4-bit
// codes q, weight = d * s * q - dmin * m.
// Block: d, dmin (2 bytes each); 12 bytes of s and m (k_scales.ts); 128 bytes q, of which byte
// 32p + i holds weight 64p + i in its low nibble and 64p + 32 + i above.

import kScalesShader from "./k_scales.wgsl" with { type: "text" };
import shader from "./q4_k.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";
import { kScales } from "./k_scales.ts";

/** 256 weights of 4 bits; a scale and a minimum per 32. */
export const q4_k: QuantFormat = {
  name: "Q4_K",
  ggmlType: 12,
  blockSize: 256,
  blockBytes: 144,
  planes: [
    { name: "scales", type: "vec4<u32>", bytesPerBlock: 16 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128, arrangement: "4-bit fields" },
  ],
  kind: "integer",
  hasMinimum: true,
  uniformGroup: true,
  partOfRow: true,
  snippet: kScalesShader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(q4_k, source, blocks, (block, weights) => {
      for (let part = 0; part < 8; part++) {
        const { scale, minimum } = kScales(block, part);
        for (let i = 0; i < 32; i++) {
          const codes = block.getUint8(16 + (part >> 1) * 32 + i);
          const code = codes >> 4 * (part % 2) & 15;
          weights[32 * part + i] = scale * code - minimum;
        }
      }
    });
  },
};
