// IQ2_S: 256 weights as a half d, a 4-bit scale s per 16 weights and, per 8, a vector of a codebook
// with signs, weight = d * (2 * s + 1) / 8 * component.
// Block: d (2 bytes); 32 bytes, the low bits of the numbers of the vectors; 32 bytes, their signs;
// 8 bytes, two high bits of the numbers of four vectors each; 8 bytes, the low nibble s of the first
// 16 of 32 weights.

import signsShader from "./signs.wgsl" with { type: "text" };
import shader from "./iq2_s.wgsl" with { type: "text" };
import { decodeBlocks, wordsOf } from "./blocks.ts";
import { iq2sVectors } from "./codebooks/iq2.ts";
import type { QuantFormat } from "./format.ts";
import { setSigned } from "./signs.ts";

/** 256 weights of 2.56 bits; a scale per 16. */
export const iq2_s: QuantFormat = {
  name: "IQ2_S",
  ggmlType: 22,
  blockSize: 256,
  blockBytes: 82,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 80 },
  ],
  codebook: { type: "vec2<u32>", words: wordsOf(iq2sVectors) },
  kind: "integer",
  hasMinimum: false,
  uniformGroup: false,
  snippet: signsShader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq2_s, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let run = 0; run < 32; run++) {
        const high = block.getUint8(66 + (run >> 2)) >> 2 * (run % 4) & 3;
        const number = block.getUint8(2 + run) | high << 8;
        const vector = iq2sVectors.subarray(8 * number, 8 * number + 8);
        const step = block.getUint8(74 + (run >> 2)) >> 2 * (run & 2) & 15;
        const scale = d * (2 * step + 1) / 8;
        setSigned(weights.subarray(8 * run), vector, scale, block.getUint8(34 + run));
      }
    });
  },
};
