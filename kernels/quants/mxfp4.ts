// MXFP4: 32 weights as a power of two d and 4-bit floats, weight = d * value; OCP Microscaling Formats
// 1.0. GGML reads an exponent of 255 as any other, not as NaN.
// Block: exponent of d plus 127 (1 byte); 16 bytes, byte i with the code of weight i in its low nibble,
// of i + 16 above.

import fp4Shader from "./fp4.wgsl" with { type: "text" };
import shader from "./mxfp4.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";
import { fp4Doubles } from "./fp4.ts";

/** 32 weights as floats of 4 bits with one exponent. */
export const mxfp4: QuantFormat = {
  name: "MXFP4",
  ggmlType: 39,
  blockSize: 32,
  blockBytes: 17,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 1 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  kind: "integer",
  hasMinimum: false,
  uniformGroup: true,
  snippet: fp4Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(mxfp4, source, blocks, (block, weights) => {
      const scale = 2 ** (block.getUint8(0) - 127 - 1); // half of d, because the values are doubled
      for (let i = 0; i < 16; i++) {
        const codes = block.getUint8(1 + i);
        weights[i] = scale * fp4Doubles[codes & 15];
        weights[i + 16] = scale * fp4Doubles[codes >> 4];
      }
    });
  },
};
