// Formats of super-blocks: 256 weights share a factor in half precision, and parts of them have
// scales in few bits. The formats of kernels/cpu/formats/k_quants.ts.

import { iq4Codebook, iq4Values } from "./code_values.ts";
import { integerFormat } from "./format.ts";
import shaders from "./k_quants.wgsl" with { type: "text" };

/**
 * Q2_K: 256 weights as halves d and dmin, a 4-bit scale s and minimum m per 16 weights, and 2-bit
 * codes q, weight = d * s * q - dmin * m.
 * Block: 16 bytes with s in the low nibble, m above; 64 bytes q, of which byte 32h + i holds
 * weights 128h + i, + 32, + 64 and + 96 from the low bits up; d, dmin (2 bytes each).
 */
export const q2_k = integerFormat(shaders, {
  name: "Q2_K",
  ggmlType: 10,
  blockSize: 256,
  blockBytes: 84,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 16 },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "factors", type: "u32", bytesPerBlock: 4 },
  ],
  hasMinimum: true,
  uniformGroup: false,
  partOfRow: true,
  decode(block, weights) {
    const d = block.getFloat16(80, true);
    const dmin = block.getFloat16(82, true);
    for (let i = 0; i < 256; i++) {
      const steps = block.getUint8(i >> 4);
      const codes = block.getUint8(16 + (i >> 7) * 32 + i % 32);
      const code = codes >> 2 * ((i >> 5) % 4) & 3;
      weights[i] = d * (steps & 15) * code - dmin * (steps >> 4);
    }
  },
});

/**
 * Q3_K: 256 weights as a half d, a 6-bit scale s per 16 weights and 3-bit codes q,
 * weight = d * (s - 32) * (q - 4).
 * Block: 32 bytes, bit g of byte i the third bit of weight 32g + i; 64 bytes, of which byte 32h + i
 * holds the low bits of weights 128h + i, + 32, + 64 and + 96; 12 bytes of scales; d (2 bytes).
 */
export const q3_k = integerFormat(shaders, {
  name: "Q3_K",
  ggmlType: 11,
  blockSize: 256,
  blockBytes: 110,
  planes: [
    { name: "high", type: "u32", bytesPerBlock: 32, arrangement: "1-bit fields" },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "scales", type: "vec4<u32>", bytesPerBlock: 16, fieldBytes: 14 },
  ],
  codeBias: 4,
  uniformGroup: false,
  partOfRow: true,
  decode(block, weights) {
    const d = block.getFloat16(108, true);
    for (let i = 0; i < 256; i++) {
      const low = block.getUint8(32 + (i >> 7) * 32 + i % 32) >> 2 * ((i >> 5) % 4) & 3;
      const high = block.getUint8(i % 32) >> (i >> 5) & 1;
      weights[i] = d * (scaleOf(block, i >> 4) - 32) * ((low | high << 2) - 4);
    }
  },
});

/** Scale 0 to 15: the low four bits are in bytes 0 to 7 of the twelve, the high two in 8 to 11. */
function scaleOf(block: DataView, index: number): number {
  const low = block.getUint8(96 + index % 8) >> 4 * (index >> 3) & 15;
  const high = block.getUint8(104 + index % 4) >> 2 * (index >> 2) & 3;
  return low | high << 4;
}

/**
 * Q4_K: 256 weights as halves d and dmin, a 6-bit scale s and minimum m per 32 weights, and 4-bit
 * codes q, weight = d * s * q - dmin * m.
 * Block: d, dmin (2 bytes each); 12 bytes of s and m (kScales); 128 bytes q, of which byte
 * 32p + i holds weight 64p + i in its low nibble and 64p + 32 + i above.
 */
export const q4_k = integerFormat(shaders, {
  name: "Q4_K",
  ggmlType: 12,
  blockSize: 256,
  blockBytes: 144,
  planes: [
    { name: "scales", type: "vec4<u32>", bytesPerBlock: 16 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128, arrangement: "4-bit fields" },
  ],
  hasMinimum: true,
  partOfRow: true,
  shares: ["K_SCALES"],
  decode(block, weights) {
    for (let part = 0; part < 8; part++) {
      const { scale, minimum } = kScales(block, part);
      for (let i = 0; i < 32; i++) {
        const codes = block.getUint8(16 + (part >> 1) * 32 + i);
        const code = codes >> 4 * (part % 2) & 15;
        weights[32 * part + i] = scale * code - minimum;
      }
    }
  },
});

/**
 * Q5_K: 256 weights as halves d and dmin, a 6-bit scale s and minimum m per 32 weights, and 5-bit
 * codes q, weight = d * s * q - dmin * m.
 * Block: d, dmin (2 bytes each); 12 bytes of s and m (kScales); 32 bytes, bit g of byte i the
 * fifth bit of weight 32g + i; 128 bytes, of which byte 32p + i holds the low bits of weight
 * 64p + i in its low nibble and of 64p + 32 + i above.
 */
export const q5_k = integerFormat(shaders, {
  name: "Q5_K",
  ggmlType: 13,
  blockSize: 256,
  blockBytes: 176,
  planes: [
    { name: "scales", type: "vec4<u32>", bytesPerBlock: 16 },
    { name: "high", type: "u32", bytesPerBlock: 32, arrangement: "1-bit fields" },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128, arrangement: "4-bit fields" },
  ],
  hasMinimum: true,
  partOfRow: true,
  shares: ["K_SCALES", "FIFTH_BITS"],
  decode(block, weights) {
    for (let part = 0; part < 8; part++) {
      const { scale, minimum } = kScales(block, part);
      for (let i = 0; i < 32; i++) {
        const low = block.getUint8(48 + (part >> 1) * 32 + i) >> 4 * (part % 2) & 15;
        const high = block.getUint8(16 + i) >> part & 1;
        weights[32 * part + i] = scale * (low | high << 4) - minimum;
      }
    }
  },
});

/**
 * Q6_K: 256 weights as a half d, a signed byte scale s per 16 weights and 6-bit codes q,
 * weight = d * s * (q - 32).
 * Block, in halves h of 128 weights: 128 bytes, of which byte 64h + i holds the low bits of weight
 * 128h + i in its low nibble and of 128h + 64 + i above; 64 bytes, of which byte 32h + i holds the
 * high bits of weights 128h + i, + 32, + 64 and + 96; 16 bytes s; d (2 bytes).
 */
export const q6_k = integerFormat(shaders, {
  name: "Q6_K",
  ggmlType: 14,
  blockSize: 256,
  blockBytes: 210,
  planes: [
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128, arrangement: "4-bit fields by group" },
    { name: "high", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "scales", type: "u32", bytesPerBlock: 20, fieldBytes: 18 },
  ],
  codeBias: 32,
  uniformGroup: false,
  partOfRow: true,
  decode(block, weights) {
    const d = block.getFloat16(208, true);
    for (let i = 0; i < 256; i++) {
      const half = i >> 7;
      const low = block.getUint8(half * 64 + i % 64) >> 4 * ((i >> 6) % 2) & 15;
      const high = block.getUint8(128 + half * 32 + i % 32) >> 2 * ((i >> 5) % 4) & 3;
      weights[i] = d * block.getInt8(192 + (i >> 4)) * ((low | high << 4) - 32);
    }
  },
});

/**
 * IQ4_XS: 256 weights as a half d, a 6-bit scale s per 32 weights and 4-bit codes for sixteen values,
 * weight = d * (s - 32) * value.
 * Block: d (2 bytes); 2 bytes, two high bits of each s from the low bits up; 4 bytes, its low nibbles;
 * 128 bytes, byte 16p + i with the code of weight 32p + i in its low nibble, of 32p + 16 + i above.
 */
export const iq4_xs = integerFormat(shaders, {
  name: "IQ4_XS",
  ggmlType: 23,
  blockSize: 256,
  blockBytes: 136,
  planes: [
    { name: "scales", type: "vec2<u32>", bytesPerBlock: 8 },
    { name: "quants", type: "vec4<u32>", bytesPerBlock: 128 },
  ],
  codebook: iq4Codebook,
  partOfRow: true,
  shares: ["IQ4"],
  decode(block, weights) {
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
  },
});

/**
 * TQ2_0: 256 weights as a half d and 2-bit codes q, weight = d * (q - 1).
 * Block: 64 bytes q, of which byte 32h + i holds weights 128h + i, + 32, + 64 and + 96 from the low
 * bits up; d (2 bytes).
 */
export const tq2_0 = integerFormat(shaders, {
  name: "TQ2_0",
  ggmlType: 35,
  blockSize: 256,
  blockBytes: 66,
  planes: [
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64, arrangement: "2-bit fields" },
    { name: "scales", type: "u32", bytesPerBlock: 2 },
  ],
  codeBias: 1,
  decode(block, weights) {
    const d = block.getFloat16(64, true);
    for (let i = 0; i < 256; i++) {
      const codes = block.getUint8((i >> 7) * 32 + i % 32);
      weights[i] = d * ((codes >> 2 * ((i >> 5) % 4) & 3) - 1);
    }
  },
});

/**
 * Scale and minimum of part 0 to 7 (32 weights each) of a Q4_K or Q5_K super-block: eight 6-bit
 * scales and eight 6-bit minima in 12 bytes, with a half-precision factor for all eight of each.
 */
function kScales(block: DataView, part: number): { scale: number; minimum: number } {
  const packed = (index: number) => block.getUint8(4 + index);
  let scale = packed(part) & 63;
  let minimum = packed(part + 4) & 63;
  if (part >= 4) {
    scale = (packed(part + 4) & 15) | ((packed(part - 4) >> 6) << 4);
    minimum = (packed(part + 4) >> 4) | ((packed(part) >> 6) << 4);
  }
  return {
    scale: block.getFloat16(0, true) * scale,
    minimum: block.getFloat16(2, true) * minimum,
  };
}
