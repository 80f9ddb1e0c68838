// IQ4_XS: 256 weights as a half d, a 6-bit scale s per 32 weights and 4-bit codes for sixteen values,
// weight = d * (s - 32) * value.
// Block: d (2 bytes); 2 bytes, two high bits of each s from the low bits up; 4 bytes, its low nibbles;
// 128 bytes, byte 16p + i with the code of weight 32p + i in its low nibble, of 32p + 16 + i above.

import iq4Shader from "./iq4.wgsl" with { type: "text" };
import shader from "./iq4_xs.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import { iq4Codebook, iq4Values } from "./codebooks/iq4.ts";
import type { QuantFormat } from "./format.ts";

/** 256 weights of 4 bits with a scale per 32, on a scale of values that is not linear. */
export const iq4_xs: QuantFormat = {
  name: "IQ4_XS",
  ggmlType: 23,
  blockSize: 256,
  blockBytes: 136,
  planes: [
    { name: "scales", type: "vec2<u32>", bytesPerBlock: 8 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128 },
  ],
  codebook: iq4Codebook,
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  partOfRow: true,
  snippet: iq4Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(iq4_xs, source, blocks, (block, weights) => {
      const d = block.getFloat16(0, true);
      for (let part = 0; part < 8; part++) {
        const low = block.getUint8(4 + (part >> 1)) >> 4 * (part % 2) & 15;
        const high = block.getUint16(2, true) >> 2 * part & 3;
        const scale = d * ((low | high << 4) - 32);
        for (let i = 0; i < 16; i++) {
          const codes = block.getUint8(8 + 16 * part + i);
          weights[32 * part + i] = scale * iq4Values[codes & 15];
          weights[32 * part + i + 16] = scale * iq4Values[codes >> 4];
        }
      }
    });
  },
};
