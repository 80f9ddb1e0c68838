// IQ3_XXS: 256 weights as a half d, per 32 weights eight vectors of a codebook with signs and a 4-bit
// scale s, weight = d * (2 * s + 1) / 4 * component.
// Block: d (2 bytes); 64 bytes, the numbers of the vectors; eight words, each with seven signs of
// every two vectors from the low bits up (signs.ts) and s in the top four.

import signsShader from "./signs.wgsl" with { type: "text" };
import iq3Shader from "./iq3.wgsl" with { type: "text" };
import shader from "./iq3_xxs.wgsl" with { type: "text" };
import { decodeBlocks, wordsOf } from "./blocks.ts";
import { iq3xxsVectors } from "./codebooks/iq3.ts";
import type { QuantFormat } from "./format.ts";
import { completeSigns, setSigned } from "./signs.ts";

/** 256 weights of 3.06 bits; a scale per 32. */
export const iq3_xxs: QuantFormat = {
  name: "IQ3_XXS",
  ggmlType: 18,
  blockSize: 256,
  blockBytes: 98,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 96 },
  ],
  codebook: { type: "u32", words: wordsOf(iq3xxsVectors) },
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  snippet: signsShader + iq3Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq3_xxs, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let run = 0; run < 64; run++) {
        const packed = block.getUint32(66 + 4 * (run >> 3), true);
        const scale = d * (2 * (packed >>> 28) + 1) / 4;
        const signs = completeSigns(packed >> 7 * (run >> 1 & 3) & 127) >> 4 * (run % 2);
        const number = block.getUint8(2 + run);
        const vector = iq3xxsVectors.subarray(4 * number, 4 * number + 4);
        setSigned(weights.subarray(4 * run), vector, scale, signs);
      }
    });
  },
};
