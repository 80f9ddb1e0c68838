// IQ4_NL: 32 weights as a half d and 4-bit codes for sixteen values, weight = d * value.
// Block: d (2 bytes); 16 bytes, byte i with the code of weight i in its low nibble, of i + 16 above.

import iq4Shader from "./iq4.wgsl" with { type: "text" };
import shader from "./iq4_nl.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import { iq4Codebook, iq4Values } from "./codebooks/iq4.ts";
import type { QuantFormat } from "./format.ts";

/** 32 weights of 4 bits with one scale, on a scale of values that is not linear. */
export const iq4_nl: QuantFormat = {
  name: "IQ4_NL",
  ggmlType: 20,
  blockSize: 32,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  codebook: iq4Codebook,
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  snippet: iq4Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq4_nl, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let i = 0; i < 16; i++) {
        const codes = block.getUint8(2 + i);
        weights[i] = d * iq4Values[codes & 15];
        weights[i + 16] = d * iq4Values[codes >> 4];
      }
    });
  },
};
