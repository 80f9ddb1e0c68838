// IQ2_XS: 256 weights as a half d, a 4-bit scale s per 16 weights and, per 8, a vector of a codebook
// with signs, weight = d * (2 * s + 1) / 8 * component.
// Block: d (2 bytes); 32 times 2 bytes, the low nine bits the number of a vector, the others seven of
// its signs (signs.ts); 8 bytes, the low nibble s of the first 16 of 32 weights.

import signsShader from "./signs.wgsl" with { type: "text" };
import shader from "./iq2_xs.wgsl" with { type: "text" };
import { decodeBlocks, wordsOf } from "./blocks.ts";
import { iq2xsVectors } from "./codebooks/iq2.ts";
import type { QuantFormat } from "./format.ts";
import { completeSigns, setSigned } from "./signs.ts";

/** 256 weights of 2.31 bits; a scale per 16. */
export const iq2_xs: QuantFormat = {
  name: "IQ2_XS",
  ggmlType: 17,
  blockSize: 256,
  blockBytes: 74,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 72 },
  ],
  codebook: { type: "vec2<u32>", words: wordsOf(iq2xsVectors) },
  kind: "integer",
  hasMinimum: false,
  uniformGroup: false,
  snippet: signsShader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq2_xs, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let run = 0; run < 32; run++) {
        const packed = block.getUint16(2 + 2 * run, true);
        const step = block.getUint8(66 + (run >> 2)) >> 2 * (run & 2) & 15;
        const number = packed & 511;
        const vector = iq2xsVectors.subarray(8 * number, 8 * number + 8);
        const scale = d * (2 * step + 1) / 8;
        setSigned(weights.subarray(8 * run), vector, scale, completeSigns(packed >> 9));
      }
    });
  },
};
