// Q5_K: 256 weights as halves d and dmin, a 6-bit scale s and minimum m per 32 weights, and 5-bit
// codes q, weight = d * s * q - dmin * m.
// Block: d, dmin (2 bytes each); 12 bytes of s and m (k_scales.ts); 32 bytes, bit g of byte i the
// fifth bit of weight 32g + i; 128 bytes, of which byte 32p + i holds the low bits of weight
// 64p + i in its low nibble and of 64p + 32 + i above.

import fifthBitsShader from "./fifth_bits.wgsl" with { type: "text" };
import kScalesShader from "./k_scales.wgsl" with { type: "text" };
import shader from "./q5_k.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";
import { kScales } from "./k_scales.ts";

/** 256 weights of 5 bits; a scale and a minimum per 32. */
export const q5_k: QuantFormat = {
  name: "Q5_K",
  ggmlType: 13,
  blockSize: 256,
  blockBytes: 176,
  planes: [
    { name: "scales", type: "vec4<u32>", bytesPerBlock: 16 },
    { name: "high", type: "u32", bytesPerBlock: 32, arrangement: "1-bit fields" },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128, arrangement: "4-bit fields" },
  ],
  kind: "integer",
  hasMinimum: true,
  uniformGroup: true,
  partOfRow: true,
  snippet: kScalesShader + fifthBitsShader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(q5_k, source, blocks, (block, weights) => {
      for (let part = 0; part < 8; part++) {
        const { scale, minimum } = kScales(block, part);
        for (let i = 0; i < 32; i++) {
          const low = block.getUint8(48 + (part >> 1) * 32 + i) >> 4 * (part % 2) & 15;
          const high = block.getUint8(16 + i) >> part & 1;
          weights[32 * part + i] = scale * (low | high << 4) - minimum;
        }
      }
    });
  },
};
