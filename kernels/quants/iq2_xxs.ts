// IQ2_XXS: 256 weights as a half d and, per 32 of them, four vectors of a codebook, their signs and a
// 4-bit scale s, weight = d * (2 * s + 1) / 8 * component.
// Block: d (2 bytes); eight times 4 bytes with the numbers of the vectors and a word with seven signs
// of each from the low bits up (signs.ts) and s in the top four.

import signsShader from "./signs.wgsl" with { type: "text" };
import shader from "./iq2_xxs.wgsl" with { type: "text" };
import { decodeBlocks, wordsOf } from "./blocks.ts";
import { iq2xxsVectors } from "./codebooks/iq2.ts";
import type { QuantFormat } from "./format.ts";
import { completeSigns, setSigned } from "./signs.ts";

/** 256 weights of 2.06 bits; a scale per 32. */
export const iq2_xxs: QuantFormat = {
  name: "IQ2_XXS",
  ggmlType: 16,
  blockSize: 256,
  blockBytes: 66,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64 },
  ],
  codebook: { type: "vec2<u32>", words: wordsOf(iq2xxsVectors) },
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  snippet: signsShader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq2_xxs, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let run = 0; run < 32; run++) {
        const part = run >> 2;
        const packed = block.getUint32(8 * part + 6, true);
        const scale = d * (2 * (packed >>> 28) + 1) / 8;
        const signs = completeSigns(packed >> 7 * (run % 4) & 127);
        const number = block.getUint8(2 + 8 * part + run % 4);
        const vector = iq2xxsVectors.subarray(8 * number, 8 * number + 8);
        setSigned(weights.subarray(8 * run), vector, scale, signs);
      }
    });
  },
};
