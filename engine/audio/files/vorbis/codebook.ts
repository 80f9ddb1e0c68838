// The codebooks of Vorbis (Vorbis I specification, section 3): Huffman codes for numbers of entries, and
// the vectors that the entries stand for.

import { AudioError } from "../../audio.ts";
import type { LowBitReader } from "../bit_reader.ts";

/** Codes of up to this many bits are found in one step. */
const FAST_BITS = 10;

/** Most entries of all codebooks' vectors together, and most entries of a codebook. */
const [MOST_VALUES, MOST_ENTRIES] = [2 ** 24, 2 ** 20];

/** A codebook. */
export class Codebook {
  /** By the next bits: 64 * entry + length of its code; -1: the code is longer. */
  readonly #fast = new Int32Array(2 ** FAST_BITS).fill(-1);
  /** A tree for longer codes: two branches for each node; a node's number, or ~entry; 0: no code. */
  readonly #tree: number[] = [0, 0];

  /**
   * @param lengths of the entries' codes; 0: an entry is not used
   * @param vectors [entries, dimensions]; undefined: the entries are only numbers
   */
  constructor(
    readonly dimensions: number,
    lengths: Uint8Array,
    readonly vectors: Float32Array | undefined,
  ) {
    for (const [entry, code] of codesOf(lengths)) this.#add(entry, code, lengths[entry]);
  }

  /** Reads the number of an entry; -1 at the end of the packet. */
  read(reader: LowBitReader): number {
    const fast = this.#fast[reader.peek(FAST_BITS)];
    if (fast >= 0) {
      reader.skip(fast & 63);
      return reader.isOver ? -1 : fast >> 6;
    }
    let node = 0;
    do {
      node = this.#tree[2 * node + reader.unsigned(1)];
      if (node === 0 || reader.isOver) return -1;
    } while (node > 0);
    return ~node;
  }

  /** @param code its first bit is the highest of its `length` bits */
  #add(entry: number, code: number, length: number): void {
    if (length <= FAST_BITS) {
      let low = 0;
      for (let i = 0; i < length; i++) low |= (code >>> length - 1 - i & 1) << i;
      for (let i = low; i < 2 ** FAST_BITS; i += 2 ** length) this.#fast[i] = 64 * entry + length;
      return;
    }
    let node = 0;
    for (let i = length - 1; i >= 0; i--) {
      const branch = 2 * node + (code >>> i & 1);
      if (i === 0) this.#tree[branch] = ~entry;
      else if (this.#tree[branch] === 0) {
        this.#tree[branch] = this.#tree.length / 2;
        this.#tree.push(0, 0);
      }
      node = this.#tree[branch];
    }
  }
}

/**
 * Codes by the lengths alone: each entry has the lowest code that is free. Errors: AudioError where there
 * are too many, or too few.
 */
function* codesOf(lengths: Uint8Array): Generator<[entry: number, code: number], void> {
  /** The next free code of each length, as the 32 bits that begin with it; 0: there is none. */
  const free = new Float64Array(33);
  const used = lengths.reduce((count, length) => count + (length > 0 ? 1 : 0), 0);
  let isFirst = true;
  for (const [entry, length] of lengths.entries()) {
    if (length === 0) continue;
    if (isFirst) {
      isFirst = false;
      for (let i = 1; i <= length; i++) free[i] = 2 ** (32 - i);
      yield [entry, 0];
      continue;
    }
    let shorter = length;
    while (shorter > 0 && free[shorter] === 0) shorter--;
    if (shorter === 0) {
      throw new AudioError("a codebook of Vorbis has more codes than there can be");
    }
    const code = free[shorter];
    free[shorter] = 0;
    for (let i = shorter + 1; i <= length; i++) free[i] = code + 2 ** (32 - i);
    yield [entry, code / 2 ** (32 - length)];
  }
  // A single code has one bit, which may be either.
  const single = lengths.indexOf(1);
  if (used === 1 && single >= 0) yield [single, 1];
  else if (free.some((code) => code !== 0)) {
    throw new AudioError("a codebook of Vorbis has fewer codes than there have to be");
  }
}

/** Reads a codebook of the setup. Errors: AudioError. */
export function readCodebook(reader: LowBitReader): Codebook {
  if (reader.unsigned(24) !== 0x564342) throw damaged("no codebook begins where one has to");
  const [dimensions, entries] = [reader.unsigned(16), reader.unsigned(24)];
  if (entries > MOST_ENTRIES) throw damaged(`a codebook has ${entries} entries`);
  const lengths = readLengths(reader, entries);
  const kind = reader.unsigned(4);
  if (kind === 0) return new Codebook(dimensions, lengths, undefined);
  if (kind > 2 || dimensions === 0) throw damaged(`a codebook has vectors of type ${kind}`);
  const [least, step] = [floatOf(reader.unsigned(32)), floatOf(reader.unsigned(32))];
  const bits = reader.unsigned(4) + 1;
  const adds = reader.unsigned(1) === 1;
  const isLattice = kind === 1;
  const count = isLattice ? rootOf(entries, dimensions) : entries * dimensions;
  if (entries * dimensions > MOST_VALUES) throw damaged(`a codebook has ${entries} vectors`);
  const factors = Float64Array.from({ length: count }, () => reader.unsigned(bits));
  const vectors = new Float32Array(entries * dimensions);
  for (let entry = 0; entry < entries; entry++) {
    let [last, divisor] = [0, 1];
    for (let i = 0; i < dimensions; i++) {
      const at = isLattice ? Math.floor(entry / divisor) % count : entry * dimensions + i;
      const value = factors[at] * step + least + last;
      vectors[entry * dimensions + i] = value;
      if (adds) last = value;
      divisor *= count;
    }
  }
  return new Codebook(dimensions, lengths, vectors);
}

function readLengths(reader: LowBitReader, entries: number): Uint8Array {
  const lengths = new Uint8Array(entries);
  if (reader.unsigned(1) === 0) {
    const isSparse = reader.unsigned(1) === 1;
    for (let entry = 0; entry < entries; entry++) {
      if (!isSparse || reader.unsigned(1)) lengths[entry] = reader.unsigned(5) + 1;
      if (reader.isOver) throw damaged("it ends within a codebook");
    }
    return lengths;
  }
  let length = reader.unsigned(5) + 1;
  for (let entry = 0; entry < entries; length++) {
    const count = reader.unsigned(bitsOf(entries - entry));
    if (length > 32 || entry + count > entries) {
      throw damaged("the lengths of a codebook are too many");
    }
    lengths.fill(length, entry, entry + count);
    entry += count;
  }
  return lengths;
}

/** Bits of a number: 0 of 0, 3 of 7, 4 of 8. */
export function bitsOf(value: number): number {
  return 32 - Math.clz32(value);
}

/** The largest number whose power `dimensions` is at most `entries`. */
function rootOf(entries: number, dimensions: number): number {
  let root = Math.floor(entries ** (1 / dimensions));
  while ((root + 1) ** dimensions <= entries) root++;
  while (root ** dimensions > entries) root--;
  return root;
}

/** A float as the format has it: 21 bits of mantissa, 10 of exponent, and a sign. */
function floatOf(bits: number): number {
  const mantissa = bits % 2 ** 21;
  const exponent = Math.floor(bits / 2 ** 21) % 2 ** 10;
  return (bits >= 2 ** 31 ? -mantissa : mantissa) * 2 ** (exponent - 788);
}

export function damaged(state: string): AudioError {
  return new AudioError(`the setup of Vorbis is damaged: ${state}`);
}
