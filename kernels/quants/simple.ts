// Formats in which each 32 to 128 weights have a scale of their own, and codes that are numbers in
// order: Q1_0 to Q8_0, and those with codes for sixteen values.

import { fp4Doubles, iq4Codebook, iq4Values } from "./code_values.ts";
import { integerFormat } from "./format.ts";
import shaders from "./simple.wgsl" with { type: "text" };

/**
 * Q1_0: 128 weights as a half d and one bit each, weight = d where it is set, -d where not.
 * Block: d (2 bytes); 16 bytes, bit i of byte b for weight 8b + i.
 */
export const q1_0 = integerFormat(shaders, {
  name: "Q1_0",
  ggmlType: 41,
  blockSize: 128,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 16, arrangement: "spread bits" },
  ],
  codeBias: 1,
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let i = 0; i < 128; i++) {
      weights[i] = block.getUint8(2 + (i >> 3)) >> i % 8 & 1 ? d : -d;
    }
  },
});

/**
 * Q2_0: 64 weights as a half d and 2-bit codes q, weight = d * (q - 1).
 * Block: d (2 bytes); 16 bytes, byte b with q of weights 4b to 4b + 3 from the low bits up.
 */
export const q2_0 = integerFormat(shaders, {
  name: "Q2_0",
  ggmlType: 42,
  blockSize: 64,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 16, arrangement: "quarters" },
  ],
  codeBias: 1,
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let i = 0; i < 64; i++) {
      weights[i] = d * ((block.getUint8(2 + (i >> 2)) >> 2 * (i % 4) & 3) - 1);
    }
  },
});

/**
 * Q4_0: 32 weights as a half d and 4-bit codes q, weight = d * (q - 8).
 * Block: d (2 bytes); 16 bytes, byte i with q of weight i in its low nibble, of i + 16 above.
 */
export const q4_0 = integerFormat(shaders, {
  name: "Q4_0",
  ggmlType: 2,
  blockSize: 32,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  codeBias: 8,
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let i = 0; i < 16; i++) {
      const codes = block.getUint8(2 + i);
      weights[i] = d * ((codes & 15) - 8);
      weights[i + 16] = d * ((codes >> 4) - 8);
    }
  },
});

/**
 * Q4_1: 32 weights as halves d and m and 4-bit codes q, weight = d * q + m.
 * Block: d, m (2 bytes each); 16 bytes, byte i with q of weight i in its low nibble, of i + 16
 * above.
 */
export const q4_1 = integerFormat(shaders, {
  name: "Q4_1",
  ggmlType: 3,
  blockSize: 32,
  blockBytes: 20,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 4 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  hasMinimum: true,
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    const m = block.getFloat16(2, true);
    for (let i = 0; i < 16; i++) {
      const codes = block.getUint8(4 + i);
      weights[i] = d * (codes & 15) + m;
      weights[i + 16] = d * (codes >> 4) + m;
    }
  },
});

/**
 * Q5_0: 32 weights as a half d and 5-bit codes q, weight = d * (q - 16).
 * Block: d (2 bytes); a word whose bit i is the fifth bit of weight i; 16 bytes, byte i with the
 * low bits of weight i in its low nibble, of i + 16 above.
 */
export const q5_0 = integerFormat(shaders, {
  name: "Q5_0",
  ggmlType: 6,
  blockSize: 32,
  blockBytes: 22,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "high", type: "u32", bytesPerBlock: 4, arrangement: "spread bits" },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  codeBias: 16,
  shares: ["FIFTH_BITS"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    const high = block.getUint32(2, true);
    for (let i = 0; i < 16; i++) {
      const codes = block.getUint8(6 + i);
      weights[i] = d * ((codes & 15 | (high >> i & 1) << 4) - 16);
      weights[i + 16] = d * ((codes >> 4 | (high >> (i + 16) & 1) << 4) - 16);
    }
  },
});

/**
 * Q5_1: 32 weights as halves d and m and 5-bit codes q, weight = d * q + m.
 * Block: d, m (2 bytes each); a word whose bit i is the fifth bit of weight i; 16 bytes, byte i
 * with the low bits of weight i in its low nibble, of i + 16 above.
 */
export const q5_1 = integerFormat(shaders, {
  name: "Q5_1",
  ggmlType: 7,
  blockSize: 32,
  blockBytes: 24,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 4 },
    { name: "high", type: "u32", bytesPerBlock: 4, arrangement: "spread bits" },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  hasMinimum: true,
  shares: ["FIFTH_BITS"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    const m = block.getFloat16(2, true);
    const high = block.getUint32(4, true);
    for (let i = 0; i < 16; i++) {
      const codes = block.getUint8(8 + i);
      weights[i] = d * (codes & 15 | (high >> i & 1) << 4) + m;
      weights[i + 16] = d * (codes >> 4 | (high >> (i + 16) & 1) << 4) + m;
    }
  },
});

/**
 * Q8_0: 32 weights as a half d and signed bytes q, weight = d * q.
 * Block: d (2 bytes); 32 bytes q.
 */
export const q8_0 = integerFormat(shaders, {
  name: "Q8_0",
  ggmlType: 8,
  blockSize: 32,
  blockBytes: 34,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 32 },
  ],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let i = 0; i < 32; i++) weights[i] = d * block.getInt8(2 + i);
  },
});

/**
 * IQ4_NL: 32 weights as a half d and 4-bit codes for sixteen values, weight = d * value.
 * Block: d (2 bytes); 16 bytes, byte i with the code of weight i in its low nibble, of i + 16 above.
 */
export const iq4_nl = integerFormat(shaders, {
  name: "IQ4_NL",
  ggmlType: 20,
  blockSize: 32,
  blockBytes: 18,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  codebook: iq4Codebook,
  shares: ["IQ4"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let i = 0; i < 16; i++) {
      const codes = block.getUint8(2 + i);
      weights[i] = d * iq4Values[codes & 15];
      weights[i + 16] = d * iq4Values[codes >> 4];
    }
  },
});

/**
 * MXFP4: 32 weights as a power of two d and 4-bit floats, weight = d * value; OCP Microscaling Formats
 * 1.0. GGML reads an exponent of 255 as any other, not as NaN.
 * Block: exponent of d plus 127 (1 byte); 16 bytes, byte i with the code of weight i in its low nibble,
 * of i + 16 above.
 */
export const mxfp4 = integerFormat(shaders, {
  name: "MXFP4",
  ggmlType: 39,
  blockSize: 32,
  blockBytes: 17,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 1 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 16 },
  ],
  shares: ["FP4"],
  decode(block, weights) {
    const scale = 2 ** (block.getUint8(0) - 127 - 1); // half of d, because the values are doubled
    for (let i = 0; i < 16; i++) {
      const codes = block.getUint8(1 + i);
      weights[i] = scale * fp4Doubles[codes & 15];
      weights[i + 16] = scale * fp4Doubles[codes >> 4];
    }
  },
});

/**
 * NVFP4: 64 weights as a positive 8-bit float d (E4M3 of the OCP 8-bit Floating Point Specification)
 * per 16 weights and 4-bit floats, weight = d * value. GGML reads 0x7f, their NaN, as zero and ignores
 * the sign.
 * Block: 4 bytes d; 32 bytes, byte 8s + i with the code of weight 16s + i in its low nibble, of
 * 16s + 8 + i above.
 */
export const nvfp4 = integerFormat(shaders, {
  name: "NVFP4",
  ggmlType: 40,
  blockSize: 64,
  blockBytes: 36,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 4 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 32 },
  ],
  uniformGroup: false,
  shares: ["FP4"],
  decode(block, weights) {
    for (let i = 0; i < 32; i++) {
      const scale = fp8(block.getUint8(i >> 3)) / 2; // halved, because the values are doubled
      const codes = block.getUint8(4 + i);
      const weight = 16 * (i >> 3) + i % 8;
      weights[weight] = scale * fp4Doubles[codes & 15];
      weights[weight + 8] = scale * fp4Doubles[codes >> 4];
    }
  },
});

/** The magnitude of an E4M3 float: four bits of exponent, three of mantissa. */
function fp8(bits: number): number {
  if (bits === 0x7f) return 0;
  const exponent = bits >> 3 & 15;
  const mantissa = bits & 7;
  return exponent === 0 ? mantissa * 2 ** -9 : (8 + mantissa) * 2 ** (exponent - 10);
}
