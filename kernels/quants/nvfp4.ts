// NVFP4: 64 weights as a positive 8-bit float d (E4M3 of the OCP 8-bit Floating Point Specification)
// per 16 weights and 4-bit floats, weight = d * value. GGML reads 0x7f, their NaN, as zero and ignores
// the sign.
// Block: 4 bytes d; 32 bytes, byte 8s + i with the code of weight 16s + i in its low nibble, of
// 16s + 8 + i above.

import fp4Shader from "./fp4.wgsl" with { type: "text" };
import shader from "./nvfp4.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";
import { fp4Doubles } from "./fp4.ts";

/** 64 weights as floats of 4 bits; a scale per 16. */
export const nvfp4: QuantFormat = {
  name: "NVFP4",
  ggmlType: 40,
  blockSize: 64,
  blockBytes: 36,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 4 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 32 },
  ],
  kind: "integer",
  hasMinimum: false,
  uniformGroup: false,
  snippet: fp4Shader + shader,
  dequantize(source, blocks) {
    return decodeBlocks(nvfp4, source, blocks, (block, weights) => {
      for (let i = 0; i < 32; i++) {
        const scale = fp8(block.getUint8(i >> 3)) / 2; // halved, because the values are doubled
        const codes = block.getUint8(4 + i);
        const weight = 16 * (i >> 3) + i % 8;
        weights[weight] = scale * fp4Doubles[codes & 15];
        weights[weight + 8] = scale * fp4Doubles[codes >> 4];
      }
    });
  },
};

/** The magnitude of an E4M3 float: four bits of exponent, three of mantissa. */
function fp8(bits: number): number {
  if (bits === 0x7f) return 0;
  const exponent = bits >> 3 & 15;
  const mantissa = bits & 7;
  return exponent === 0 ? mantissa * 2 ** -9 : (8 + mantissa) * 2 ** (exponent - 10);
}
