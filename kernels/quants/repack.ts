// Repacks GGUF blocks into the planes of their format, in plain loops, and rearranges the bits of
// planes in place, so that shaders can expand them with constant shifts. Devices may do it by other
// means, with the same result.

import { type Arrangement, type Plane, type QuantFormat, wordsOf } from "./format.ts";

const ARRANGE: Record<Arrangement, (plane: Uint8Array) => void> = {
  "1-bit fields": (plane) => transposeFields(plane, 1),
  "2-bit fields": (plane) => transposeFields(plane, 2),
  "4-bit fields": (plane) => transposeFields(plane, 4),
  "4-bit fields by group": (plane) => {
    transposeFields(plane, 4);
    orderGroups(plane);
  },
  "spread bits": spreadBits,
  "quarters": transposeQuarters,
};

/** Bytes that a plane takes from each block. */
export function fieldBytesOf({ fieldBytes, bytesPerBlock }: Plane): number {
  return fieldBytes ?? bytesPerBlock;
}

/** Whether blocks are as they lie in a file: one plane of all their bytes. */
export function liesAsInFile({ planes, blockBytes }: QuantFormat): boolean {
  return planes.length === 1 && !planes[0]!.arrangement && fieldBytesOf(planes[0]!) === blockBytes;
}

/**
 * Splits `blocks` GGUF blocks from `source` into planes. Each plane has exactly blocks * bytesPerBlock
 * bytes, which need not be a multiple of 4, because buffers round up. A plane may be a view of the source.
 */
export function repack(format: QuantFormat, source: Uint8Array, blocks: number): Uint8Array[] {
  if (liesAsInFile(format)) return [source.subarray(0, blocks * format.blockBytes)];
  const planes = splitBlocks(format, source, blocks, format.planes.map(fieldBytesOf));
  format.planes.forEach(({ arrangement }, i) => arrangement && ARRANGE[arrangement](planes[i]!));
  return planes;
}

/**
 * Copies the fields of every block side by side: field f of all blocks becomes plane f. A field
 * that is shorter than its plane's `bytesPerBlock` is followed by zeros.
 *
 * @param fields bytes of each field in the block's order
 * @returns one array per plane, each of blocks * bytesPerBlock bytes
 */
function splitBlocks(
  { planes, blockBytes }: QuantFormat,
  source: Uint8Array,
  blocks: number,
  fields: readonly number[],
): Uint8Array[] {
  let start = 0;
  return planes.map(({ bytesPerBlock }, index) => {
    const plane = new Uint8Array(blocks * bytesPerBlock);
    for (let block = 0; block < blocks; block++) {
      const from = block * blockBytes + start;
      plane.set(source.subarray(from, from + fields[index]!), block * bytesPerBlock);
    }
    start += fields[index]!;
    return plane;
  });
}

/**
 * Treats byte k of eight words as a matrix of 8 x 8 bits with a row per word, and transposes it,
 * for each k and each run of eight words, in square tiles of `width` bits that move as a whole.
 * K-quants keep weights of different groups in one byte; afterwards each word has weights of one
 * group only.
 */
function transposeFields(plane: Uint8Array, width: 1 | 2 | 4): void {
  const words = wordsOf(plane);
  for (let distance: number = width; distance < 8; distance *= 2) exchange(words, distance);
}

/** One step of the transposition: swaps tiles of `distance` bits across the diagonal. */
function exchange(words: Uint32Array, distance: number): void {
  const right = 0xffffffff / (2 ** distance + 1); // mask of every other `distance` bits, from bit 0
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

/**
 * For each byte a word with its bits 0, 1, 2, 3 at bits 0, 8, 16, 24, and its bits 4 to 7 next to
 * them.
 */
const SPREAD = Uint32Array.from({ length: 256 }, (_, byte) => {
  const spreadNibble = (nibble: number) => (nibble * 0x00204081) & 0x01010101;
  return spreadNibble(byte & 15) | (spreadNibble(byte >> 4) << 1);
});

/**
 * Reorders words in which bit i belongs to weight i: the bit of weight 4j + k becomes bit j of byte
 * k.
 */
function spreadBits(plane: Uint8Array): void {
  const words = wordsOf(plane);
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    words[i] = SPREAD[word & 255] | (SPREAD[(word >>> 8) & 255] << 2) |
      (SPREAD[(word >>> 16) & 255] << 4) | (SPREAD[word >>> 24] << 6);
  }
}

/** Treats each word as a matrix of 4 x 4 pairs of bits with a row per byte, and transposes it. */
function transposeQuarters(plane: Uint8Array): void {
  const words = wordsOf(plane);
  for (let i = 0; i < words.length; i++) {
    words[i] = exchangeBits(exchangeBits(words[i], 6, 0x00cc00cc), 12, 0x0000f0f0);
  }
}

/** Swaps the bits of a mask with those `distance` above them. */
function exchangeBits(word: number, distance: number, mask: number): number {
  const difference = (word ^ (word >>> distance)) & mask;
  return word ^ difference ^ (difference << distance);
}

/**
 * Swaps the middle two groups of each four: where a byte's nibbles are 64 weights apart, groups come in
 * the order 0, 2, 1, 3.
 */
function orderGroups(quants: Uint8Array): void {
  const words = wordsOf(quants);
  for (let start = 0; start < words.length; start += 16) {
    for (let i = start + 4; i < start + 8; i++) {
      const word = words[i];
      words[i] = words[i + 4];
      words[i + 4] = word;
    }
  }
}
