// What the tokens of a trie are as characters of strings: which are plain text, of which classes and
// how long, and where the others leave plain text.

import { BEYOND_ASCII, classOf, ROUGH } from "../../language/mod.ts";

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

/** Masks that are kept: 4 MB for 128,000 tokens. */
const MAX_MASKS = 256;

/** A trie of tokens, in depth-first order. */
export interface Trie {
  /** The bound of the tokens' ids. */
  readonly size: number;
  readonly nodes: number;
  readonly bytes: Uint8Array;
  readonly depths: Uint16Array;
  readonly ends: Int32Array;
  readonly firsts: Int32Array;
  readonly sorted: Int32Array;
}

/** The first and last second byte that may follow a first byte of UTF-8. */
function secondBytesOf(first: number): readonly [number, number] {
  if (first === 0xe0) return [0xa0, 0xbf];
  if (first === 0xed) return [0x80, 0x9f];
  if (first === 0xf0) return [0x90, 0xbf];
  if (first === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}

/** Number of bytes that must follow a first byte of UTF-8; -1 if it is not one. */
function continuationsOf(byte: number): number {
  if (byte < 0x80) return 0;
  if (byte >= 0xc2 && byte < 0xe0) return 1;
  if (byte >= 0xe0 && byte < 0xf0) return 2;
  return byte >= 0xf0 && byte < 0xf5 ? 3 : -1;
}

/** The characters of a trie's tokens. A token may end within one. */
export class TokenCharacters {
  /** Classes of the characters below each node, ROUGH and what is not UTF-8 among them. */
  readonly below: Int32Array;
  /** Most characters below each node. */
  readonly heights: Uint16Array;
  /**
   * By node: the first one from it on that is on the way to where a token leaves plain text by what
   * a string may contain, or beyond; the number of nodes if there is none.
   */
  readonly rough: Int32Array;
  readonly #trie: Trie;
  /** By node: the classes of the characters on the path to it, and their number. */
  readonly #classes: Int32Array;
  readonly #lengths: Uint16Array;
  /** Masks of plain tokens, by their classes and most characters as one number. */
  readonly #masks = new Map<number, Uint32Array<ArrayBuffer>>();
  /** By classes: a token of each number of characters, the longest first. */
  readonly #samples = new Map<number, readonly number[]>();

  /** Reads all tokens of a trie. */
  constructor(trie: Trie) {
    const { nodes, bytes, depths, ends } = trie;
    this.#trie = trie;
    this.below = new Int32Array(nodes);
    this.heights = new Uint16Array(nodes);
    this.rough = new Int32Array(nodes + 1).fill(nodes);
    this.#classes = new Int32Array(nodes);
    this.#lengths = new Uint16Array(nodes);
    const parents = new Int32Array(nodes);
    const own = new Int32Array(nodes);
    const isRough = new Uint8Array(nodes);
    // By depth: the path, and the bytes that a begun character lacks.
    const path: number[] = [0];
    const characters: number[] = [0];
    const missing: number[] = [0];
    const seconds: (readonly [number, number])[] = [[0x80, 0xbf]];
    for (let node = 1; node < nodes; node++) {
      const depth = depths[node]!;
      const byte = bytes[node]!;
      const parent = path[depth - 1]!;
      path[depth] = node;
      parents[node] = parent;
      const left = missing[depth - 1]!;
      const [low, high] = seconds[depth - 1]!;
      let leaves = false;
      if (left > 0 && byte >= low && byte <= high) {
        const begun = characters[depth - 1]! << 6 | byte & 0x3f;
        characters[depth] = begun;
        missing[depth] = left - 1;
        seconds[depth] = [0x80, 0xbf];
        own[node] = left > 1 ? BEYOND_ASCII : classOf(begun);
        leaves = own[node] === ROUGH;
      } else {
        const continuations = continuationsOf(byte);
        characters[depth] = byte & 0x3f >> continuations;
        missing[depth] = Math.max(continuations, 0);
        seconds[depth] = secondBytesOf(byte);
        const isBroken = left > 0 || continuations < 0;
        own[node] = isBroken ? ROUGH : continuations > 0 ? BEYOND_ASCII : classOf(byte);
        leaves = left === 0 && (byte === QUOTE || byte === BACKSLASH);
      }
      this.#classes[node] = this.#classes[parent]! | own[node]!;
      this.#lengths[node] = this.#lengths[parent]! + Number(isFirst(byte));
      if (!leaves || (this.#classes[parent]! & ROUGH) !== 0) continue;
      isRough.fill(1, node, ends[node]);
      for (let at = parent; at > 0 && isRough[at] === 0; at = parents[at]!) isRough[at] = 1;
    }
    for (let node = nodes - 1; node > 0; node--) {
      const parent = parents[node]!;
      this.below[parent]! |= this.below[node]! | own[node]!;
      const height = this.heights[node]! + Number(isFirst(bytes[node]!));
      this.heights[parent] = Math.max(this.heights[parent]!, height);
      this.rough[node] = isRough[node] === 1 ? node : this.rough[node + 1]!;
    }
  }

  /** Whether all characters on the path to a node are plain. */
  isPlain(node: number): boolean {
    return (this.#classes[node]! & ROUGH) === 0;
  }

  /** The plain tokens of some classes with at most so many characters. Read only. */
  plain(classes: number, most: number): Uint32Array<ArrayBuffer> {
    const { size, nodes } = this.#trie;
    const length = Math.max(0, Math.min(most, this.heights[0]!));
    const key = classes * 0x10000 + length;
    let bits = this.#masks.get(key);
    if (!bits) {
      if (this.#masks.size === MAX_MASKS) this.#masks.clear();
      this.#masks.set(key, bits = new Uint32Array(Math.ceil(size / 32)));
      this.addPlain(bits, 1, nodes, classes, length);
    }
    return bits;
  }

  /**
   * Sets the bits of the tokens at the nodes from `first` to `end` that are plain text of some
   * classes and have at most so many characters.
   */
  addPlain(bits: Uint32Array, first: number, end: number, classes: number, most: number): void {
    const { firsts, sorted } = this.#trie;
    for (let node = first; node < end; node++) {
      if ((this.#classes[node]! & ~classes) !== 0 || this.#lengths[node]! > most) continue;
      for (let at = firsts[node]!; at < firsts[node + 1]!; at++) {
        const token = sorted[at]!;
        bits[token >>> 5]! |= 1 << (token & 31);
      }
    }
  }

  /** Of the tokens of some classes one of each number of characters, the longest first. */
  ofEachLength(classes: number): readonly number[] {
    let found = this.#samples.get(classes);
    if (!found) {
      const { nodes, firsts, sorted } = this.#trie;
      const byLength: number[] = [];
      for (let node = 1; node < nodes; node++) {
        const isToken = firsts[node]! < firsts[node + 1]!;
        if (!isToken || (this.#classes[node]! & ~classes) !== 0) continue;
        byLength[this.#lengths[node]!] ??= sorted[firsts[node]!]!;
      }
      found = byLength.reverse().filter((token) => token !== undefined);
      this.#samples.set(classes, found);
    }
    return found;
  }
}

/** Whether a byte begins a character. */
function isFirst(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}
