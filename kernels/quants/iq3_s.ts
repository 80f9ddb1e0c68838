// IQ3_S: 256 weights as a half d, a 4-bit scale s per 32 weights and, per 4, a vector of a codebook
// with signs, weight = d * (2 * s + 1) * component.
// Block: d (2 bytes); 64 bytes, the low bits of the numbers of the vectors; 8 bytes, the ninth bits of
// eight vectors each; 32 bytes, the signs of eight weights each; 4 bytes, s of the first 32 of 64
// weights in the low nibble.

import signsShader from "./signs.wgsl" with { type: "text" };
import iq3Shader from "./iq3.wgsl" with { type: "text" };
import shader from "./iq3_s.wgsl" with { type: "text" };
import { decodeBlocks, wordsOf } from "./blocks.ts";
import { iq3sVectors } from "./codebooks/iq3.ts";
import type { QuantFormat } from "./format.ts";
import { setSigned } from "./signs.ts";

/** 256 weights of 3.44 bits; a scale per 32. */
export const iq3_s: QuantFormat = {
  name: "IQ3_S",
  ggmlType: 21,
  blockSize: 256,
  blockBytes: 110,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 108 },
  ],
  codebook: { type: "u32", words: wordsOf(iq3sVectors) },
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  snippet: signsShader + iq3Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq3_s, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let run = 0; run < 64; run++) {
        const high = block.getUint8(66 + (run >> 3)) >> run % 8 & 1;
        const number = block.getUint8(2 + run) | high << 8;
        const vector = iq3sVectors.subarray(4 * number, 4 * number + 4);
        const signs = block.getUint8(74 + (run >> 1)) >> 4 * (run % 2);
        const step = block.getUint8(106 + (run >> 4)) >> 4 * (run >> 3 & 1) & 15;
        setSigned(weights.subarray(4 * run), vector, d * (2 * step + 1), signs);
      }
    });
  },
};
