// Formats whose codes are numbers of vectors in a codebook, and TQ1_0, whose bytes are five digits
// to the base 3.

import {
  iq1Codebook,
  iq1Vectors,
  iq2sVectors,
  iq2xsVectors,
  iq2xxsVectors,
  iq3sVectors,
  iq3xxsVectors,
} from "./code_values.ts";
import shaders from "./codebooks.wgsl" with { type: "text" };
import { integerFormat, wordsOf } from "./format.ts";

/**
 * IQ1_S: 256 weights as a half d, per 32 weights four vectors of a codebook, a 3-bit scale s and a
 * sign, weight = d * (2 * s + 1) * (component +- 1/8).
 * Block: d (2 bytes); 32 bytes, the low bits of the numbers of the vectors; eight times 2 bytes: three
 * high bits of each number from the low bits up, s, and the top bit set for minus.
 */
export const iq1_s = integerFormat(shaders, {
  name: "IQ1_S",
  ggmlType: 19,
  blockSize: 256,
  blockBytes: 50,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 48 },
  ],
  codebook: iq1Codebook,
  shares: ["IQ1"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let i = 0; i < 256; i++) {
      const header = block.getUint16(34 + 2 * (i >> 5), true);
      const run = i >> 3;
      const number = block.getUint8(2 + run) | (header >> 3 * (run % 4) & 7) << 8;
      const scale = d * (2 * (header >> 12 & 7) + 1);
      const delta = header >> 15 ? -1 / 8 : 1 / 8;
      weights[i] = scale * (iq1Vectors[8 * number + i % 8] + delta);
    }
  },
});

/**
 * IQ1_M: 256 weights as a half d, a 3-bit scale s per 16 weights and, per 8, a vector of a codebook
 * and a sign, weight = d * (2 * s + 1) * (component +- 1/8).
 * Block: 32 bytes, the low bits of the numbers of the vectors; 16 bytes, a nibble per vector: three
 * high bits of its number, and the top bit set for minus; 8 bytes as four halves h: s of four times 16
 * weights in their lower twelve bits; the top nibbles are d, the lowest first.
 */
export const iq1_m = integerFormat(shaders, {
  name: "IQ1_M",
  ggmlType: 29,
  blockSize: 256,
  blockBytes: 56,
  planes: [
    { name: "quants", type: "u32", bytesPerBlock: 56 },
  ],
  codebook: iq1Codebook,
  uniformGroup: false,
  shares: ["IQ1"],
  decode(block, weights) {
    const d = factorOf(block);
    for (let i = 0; i < 256; i++) {
      const run = i >> 3;
      const header = block.getUint8(32 + (run >> 1)) >> 4 * (run % 2);
      const number = block.getUint8(run) | (header & 7) << 8;
      const step = block.getUint16(48 + 2 * (i >> 6), true) >> 3 * (i >> 4 & 3) & 7;
      const delta = header & 8 ? -1 / 8 : 1 / 8;
      weights[i] = d * (2 * step + 1) * (iq1Vectors[8 * number + i % 8] + delta);
    }
  },
});

/** The half whose four nibbles are the top nibbles of the last four pairs of bytes. */
function factorOf(block: DataView): number {
  const bits = new DataView(new ArrayBuffer(2));
  for (let i = 0; i < 4; i++) {
    const nibble = block.getUint8(49 + 2 * i) >> 4;
    bits.setUint16(0, bits.getUint16(0) | nibble << 4 * i);
  }
  return bits.getFloat16(0);
}

/**
 * IQ2_XXS: 256 weights as a half d and, per 32 of them, four vectors of a codebook, their signs and a
 * 4-bit scale s, weight = d * (2 * s + 1) / 8 * component.
 * Block: d (2 bytes); eight times 4 bytes with the numbers of the vectors and a word with seven signs
 * of each from the low bits up (completeSigns) and s in the top four.
 */
export const iq2_xxs = integerFormat(shaders, {
  name: "IQ2_XXS",
  ggmlType: 16,
  blockSize: 256,
  blockBytes: 66,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "vec2<u32>", bytesPerBlock: 64 },
  ],
  codebook: { type: "vec2<u32>", words: wordsOf(iq2xxsVectors) },
  shares: ["SIGNS"],
  decode(block, weights) {
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
  },
});

/**
 * IQ2_XS: 256 weights as a half d, a 4-bit scale s per 16 weights and, per 8, a vector of a codebook
 * with signs, weight = d * (2 * s + 1) / 8 * component.
 * Block: d (2 bytes); 32 times 2 bytes, the low nine bits the number of a vector, the others seven of
 * its signs (completeSigns); 8 bytes, the low nibble s of the first 16 of 32 weights.
 */
export const iq2_xs = integerFormat(shaders, {
  name: "IQ2_XS",
  ggmlType: 17,
  blockSize: 256,
  blockBytes: 74,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 72 },
  ],
  codebook: { type: "vec2<u32>", words: wordsOf(iq2xsVectors) },
  uniformGroup: false,
  shares: ["SIGNS"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let run = 0; run < 32; run++) {
      const packed = block.getUint16(2 + 2 * run, true);
      const step = block.getUint8(66 + (run >> 2)) >> 2 * (run & 2) & 15;
      const number = packed & 511;
      const vector = iq2xsVectors.subarray(8 * number, 8 * number + 8);
      const scale = d * (2 * step + 1) / 8;
      setSigned(weights.subarray(8 * run), vector, scale, completeSigns(packed >> 9));
    }
  },
});

/**
 * IQ2_S: 256 weights as a half d, a 4-bit scale s per 16 weights and, per 8, a vector of a codebook
 * with signs, weight = d * (2 * s + 1) / 8 * component.
 * Block: d (2 bytes); 32 bytes, the low bits of the numbers of the vectors; 32 bytes, their signs;
 * 8 bytes, two high bits of the numbers of four vectors each; 8 bytes, the low nibble s of the first
 * 16 of 32 weights.
 */
export const iq2_s = integerFormat(shaders, {
  name: "IQ2_S",
  ggmlType: 22,
  blockSize: 256,
  blockBytes: 82,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 80 },
  ],
  codebook: { type: "vec2<u32>", words: wordsOf(iq2sVectors) },
  uniformGroup: false,
  shares: ["SIGNS"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let run = 0; run < 32; run++) {
      const high = block.getUint8(66 + (run >> 2)) >> 2 * (run % 4) & 3;
      const number = block.getUint8(2 + run) | high << 8;
      const vector = iq2sVectors.subarray(8 * number, 8 * number + 8);
      const step = block.getUint8(74 + (run >> 2)) >> 2 * (run & 2) & 15;
      const scale = d * (2 * step + 1) / 8;
      setSigned(weights.subarray(8 * run), vector, scale, block.getUint8(34 + run));
    }
  },
});

/**
 * IQ3_XXS: 256 weights as a half d, per 32 weights eight vectors of a codebook with signs and a 4-bit
 * scale s, weight = d * (2 * s + 1) / 4 * component.
 * Block: d (2 bytes); 64 bytes, the numbers of the vectors; eight words, each with seven signs of
 * every two vectors from the low bits up (completeSigns) and s in the top four.
 */
export const iq3_xxs = integerFormat(shaders, {
  name: "IQ3_XXS",
  ggmlType: 18,
  blockSize: 256,
  blockBytes: 98,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 96 },
  ],
  codebook: { type: "u32", words: wordsOf(iq3xxsVectors) },
  shares: ["SIGNS", "IQ3"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let run = 0; run < 64; run++) {
      const packed = block.getUint32(66 + 4 * (run >> 3), true);
      const scale = d * (2 * (packed >>> 28) + 1) / 4;
      const signs = completeSigns(packed >> 7 * (run >> 1 & 3) & 127) >> 4 * (run % 2);
      const number = block.getUint8(2 + run);
      const vector = iq3xxsVectors.subarray(4 * number, 4 * number + 4);
      setSigned(weights.subarray(4 * run), vector, scale, signs);
    }
  },
});

/**
 * IQ3_S: 256 weights as a half d, a 4-bit scale s per 32 weights and, per 4, a vector of a codebook
 * with signs, weight = d * (2 * s + 1) * component.
 * Block: d (2 bytes); 64 bytes, the low bits of the numbers of the vectors; 8 bytes, the ninth bits of
 * eight vectors each; 32 bytes, the signs of eight weights each; 4 bytes, s of the first 32 of 64
 * weights in the low nibble.
 */
export const iq3_s = integerFormat(shaders, {
  name: "IQ3_S",
  ggmlType: 21,
  blockSize: 256,
  blockBytes: 110,
  planes: [
    { name: "scales", type: "u32", bytesPerBlock: 2 },
    { name: "quants", type: "u32", bytesPerBlock: 108 },
  ],
  codebook: { type: "u32", words: wordsOf(iq3sVectors) },
  shares: ["SIGNS", "IQ3"],
  decode(block, weights) {
    const d = block.getFloat16(0, true);
    for (let run = 0; run < 64; run++) {
      const high = block.getUint8(66 + (run >> 3)) >> run % 8 & 1;
      const number = block.getUint8(2 + run) | high << 8;
      const vector = iq3sVectors.subarray(4 * number, 4 * number + 4);
      const signs = block.getUint8(74 + (run >> 1)) >> 4 * (run % 2);
      const step = block.getUint8(106 + (run >> 4)) >> 4 * (run >> 3 & 1) & 15;
      setSigned(weights.subarray(4 * run), vector, d * (2 * step + 1), signs);
    }
  },
});

/** First weight and byte of the runs of bytes in a block, and the bytes of each. */
const RUNS = [
  { weight: 0, byte: 0, bytes: 32, digits: 5 },
  { weight: 160, byte: 32, bytes: 16, digits: 5 },
  { weight: 240, byte: 48, bytes: 4, digits: 4 },
];

/**
 * TQ1_0: 256 weights as a half d and ternary digits t, weight = d * (t - 1). A byte holds five digits
 * as the fraction byte / 256 to the base 3, the first digit leading.
 * Block: 32 bytes, byte i with weights i, 32 + i, ... 128 + i; 16 bytes, byte i with weights 160 + i,
 * 176 + i, ... 224 + i; 4 bytes, byte i with weights 240 + i, ... 252 + i; d (2 bytes).
 */
export const tq1_0 = integerFormat(shaders, {
  name: "TQ1_0",
  ggmlType: 34,
  blockSize: 256,
  blockBytes: 54,
  planes: [
    { name: "quants", type: "u32", bytesPerBlock: 52 },
    { name: "scales", type: "u32", bytesPerBlock: 2 },
  ],
  codeBias: 1,
  decode(block, weights) {
    const d = block.getFloat16(52, true);
    for (const { weight, byte, bytes, digits } of RUNS) {
      for (let i = 0; i < bytes; i++) {
        let fraction = block.getUint8(byte + i);
        for (let digit = 0; digit < digits; digit++) {
          fraction *= 3;
          weights[weight + bytes * digit + i] = d * ((fraction >> 8) - 1);
          fraction &= 255;
        }
      }
    }
  },
});

/**
 * The signs of eight weights from the seven that GGUF stores. The number of negative ones is even.
 */
function completeSigns(seven: number): number {
  const folded = seven ^ seven >> 4;
  const parity = 0x6996 >> (folded & 15) & 1; // bit n: whether n has an odd number of bits
  return seven | parity << 7;
}

/**
 * Writes weights: `scale` times each component of a vector, negative where bit i of `signs` is set.
 */
function setSigned(
  weights: Float32Array,
  vector: Int8Array,
  scale: number,
  signs: number,
): void {
  for (let i = 0; i < vector.length; i++) {
    weights[i] = (signs >> i & 1 ? -scale : scale) * vector[i];
  }
}
