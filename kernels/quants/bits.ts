// Rearranges bits of repacked planes in place, so that shaders expand them by constant shifts.
// Knows no format: which plane needs which rearrangement is for the format's own file to say.

import { wordsOf } from "./blocks.ts";

/**
 * Byte k of eight words is a matrix of 8 x 8 bits with a row per word: transposes it, for each k
 * and each run of eight words, in square tiles of `width` bits that move whole. K-quants keep
 * weights of different groups in one byte; afterwards each word has weights of one group only.
 */
export function transposeFields(plane: Uint8Array, width: 1 | 2 | 4): void {
  const words = wordsOf(plane);
  for (let distance: number = width; distance < 8; distance *= 2) exchange(words, distance);
}

/** One step of the transposition: tiles of `distance` bits trade places across the diagonal. */
function exchange(words: Uint32Array, distance: number): void {
  const right = 0xffffffff / (2 ** distance + 1); // Every other `distance` bits, from bit 0.
  for (let start = 0; start < words.length; start += 8) {
    for (let pair = 0; pair < 4; pair++) {
      const first = start + pair + (pair & -distance);
      const second = first + distance;
      const difference = ((words[first] >>> distance) ^ words[second]) & right;
      words[first] ^= difference << distance;
      words[second] ^= difference;
    }
  }
}

/** For each byte: its bits 0, 1, 2, 3 as bits 0, 8, 16, 24, and its bits 4 to 7 next to them. */
const SPREAD = Uint32Array.from({ length: 256 }, (_, byte) => {
  const spreadNibble = (nibble: number) => (nibble * 0x00204081) & 0x01010101;
  return spreadNibble(byte & 15) | (spreadNibble(byte >> 4) << 1);
});

/** Reorders words that have bit i of weight i: that of weight 4j + k becomes bit j of byte k. */
export function spreadBits(plane: Uint8Array): void {
  const words = wordsOf(plane);
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    words[i] = SPREAD[word & 255] | (SPREAD[(word >>> 8) & 255] << 2) |
      (SPREAD[(word >>> 16) & 255] << 4) | (SPREAD[word >>> 24] << 6);
  }
}

/** Each word as a matrix of 4 x 4 quarters of a byte with a row per byte: transposes it. */
export function transposeQuarters(plane: Uint8Array): void {
  const words = wordsOf(plane);
  for (let i = 0; i < words.length; i++) {
    words[i] = exchangeBits(exchangeBits(words[i], 6, 0x00cc00cc), 12, 0x0000f0f0);
  }
}

/** Lets the bits of a mask trade places with those `distance` above them. */
function exchangeBits(word: number, distance: number, mask: number): number {
  const difference = (word ^ (word >>> distance)) & mask;
  return word ^ difference ^ (difference << distance);
}
