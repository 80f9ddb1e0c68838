// The tokens of a vocabulary as a flat trie of their bytes, in depth-first order: a subtree is a
// range of nodes, and its tokens are a range of the tokens sorted by their bytes.

import {
  BEYOND_ASCII,
  CLASS_OF,
  continuationsOf,
  secondBytesOf,
  UNSAFE,
} from "./character_classes.ts";

/** What a table is made of. */
export interface TokenSource {
  /** Number of tokens; ids are below it. */
  readonly size: number;
  /** The bytes of a token. */
  readonly bytesOf: (token: number) => Uint8Array;
  /** Tokens that end an answer. */
  readonly endTokens: Iterable<number>;
  /** Whether a token stands for no text. */
  readonly isControl: (token: number) => boolean;
}

/** A vocabulary, sorted. Nodes are in depth-first order; node 0 is the root. */
export class TokenTable {
  readonly size: number;
  readonly endTokens: ReadonlySet<number>;
  /** Most bytes of a token. */
  readonly longest: number;
  /** Tokens sorted by their bytes. */
  readonly sorted: Int32Array;
  /** Number of nodes. */
  readonly nodes: number;
  /** The byte that leads to each node. */
  readonly bytes: Uint8Array;
  /** Number of bytes that lead to each node. */
  readonly depths: Uint16Array;
  /** The node after each node's subtree. */
  readonly ends: Int32Array;
  /**
   * The place in `sorted` of the first token of each node's subtree, and the number of tokens at
   * the end. Those that end at the node itself are before the next node's.
   */
  readonly firsts: Int32Array;
  /** Classes of the bytes below each node. */
  readonly classes: Int32Array;
  /** Most characters below each node. */
  readonly heights: Uint16Array;
  /** Bits of the tokens that are in the trie. */
  readonly #texts: Uint32Array;
  /** Characters of the tokens that need no escape, by id. */
  readonly #plainLengths: Uint16Array;
  /** Masks of them, by the most characters. */
  readonly #plain: (Uint32Array<ArrayBuffer> | undefined)[] = [];
  readonly #bytesOf: (token: number) => Uint8Array;

  /** Sorts a vocabulary: half a second for 128,000 tokens at most. */
  static of(source: TokenSource): TokenTable {
    return new TokenTable(source);
  }

  private constructor({ size, bytesOf, endTokens, isControl }: TokenSource) {
    this.size = size;
    this.endTokens = new Set(endTokens);
    this.#bytesOf = bytesOf;
    this.#texts = new Uint32Array(Math.ceil(size / 32));
    const tokens: { id: number; bytes: Uint8Array; key: number }[] = [];
    for (let id = 0; id < size; id++) {
      if (this.endTokens.has(id) || isControl(id)) continue;
      const bytes = bytesOf(id);
      if (bytes.length > 0) tokens.push({ id, bytes, key: sortKey(bytes) });
    }
    tokens.sort((a, b) => a.key - b.key || compareFrom(a.bytes, b.bytes, KEY_BYTES));
    for (const { id } of tokens) this.#texts[id >>> 5]! |= 1 << (id & 31);
    this.sorted = Int32Array.from(tokens, ({ id }) => id);
    this.longest = tokens.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);

    const capacity = 1 + tokens.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const bytes = new Uint8Array(capacity);
    const depths = new Uint16Array(capacity);
    const ends = new Int32Array(capacity);
    const firsts = new Int32Array(capacity + 1);
    const path = [0];
    let nodes = 1;
    let previous: Uint8Array = new Uint8Array(0);
    tokens.forEach(({ bytes: token }, place) => {
      const common = commonLength(previous, token);
      while (path.length > common + 1) ends[path.pop()!] = nodes;
      for (let depth = common; depth < token.length; depth++) {
        bytes[nodes] = token[depth]!;
        depths[nodes] = depth + 1;
        firsts[nodes] = place;
        path.push(nodes++);
      }
      previous = token;
    });
    while (path.length > 0) ends[path.pop()!] = nodes;
    firsts[nodes] = tokens.length;

    this.nodes = nodes;
    this.bytes = bytes.slice(0, nodes);
    this.depths = depths.slice(0, nodes);
    this.ends = ends.slice(0, nodes);
    this.firsts = firsts.slice(0, nodes + 1);
    this.classes = new Int32Array(nodes);
    this.heights = new Uint16Array(nodes);
    for (let node = nodes - 1; node >= 0; node--) this.#summarize(node);
    this.#plainLengths = new Uint16Array(size).fill(NOT_PLAIN);
    for (const { id, bytes } of tokens) this.#plainLengths[id] = plainLength(bytes);
  }

  /** The bytes of a token. */
  bytesOf(token: number): Uint8Array {
    return this.#bytesOf(token);
  }

  /** Whether a token is text, and so in the trie. */
  isText(token: number): boolean {
    return ((this.#texts[token >>> 5]! >>> (token & 31)) & 1) === 1;
  }

  /** Sets the bits of a range of the sorted tokens. */
  addTokens(bits: Uint32Array, first: number, end: number): void {
    const { sorted } = this;
    for (let place = first; place < end; place++) {
      const token = sorted[place]!;
      bits[token >>> 5]! |= 1 << (token & 31);
    }
  }

  /** A copy of the bits of the tokens of at most so many characters that any string takes. */
  plainTokens(characters: number): Uint32Array<ArrayBuffer> {
    const most = Math.min(characters, this.longest);
    let bits = this.#plain[most];
    if (!bits) {
      bits = new Uint32Array(Math.ceil(this.size / 32));
      for (let token = 0; token < this.size; token++) {
        if (this.#plainLengths[token]! <= most) bits[token >>> 5]! |= 1 << (token & 31);
      }
      this.#plain[most] = bits;
    }
    return bits.slice();
  }

  /** The bytes that lead to a node. */
  pathTo(node: number): Uint8Array {
    return this.#bytesOf(this.sorted[this.firsts[node]!]!).subarray(0, this.depths[node]!);
  }

  #summarize(node: number): void {
    let classes = 0;
    let height = 0;
    for (let child = node + 1; child < this.ends[node]!; child = this.ends[child]!) {
      const byte = this.bytes[child]!;
      const continuations = continuationsOf(byte);
      if (continuations === 0) classes |= CLASS_OF[byte]! | this.classes[child]!;
      else if (continuations < 0) classes |= UNSAFE;
      else {
        classes |= BEYOND_ASCII |
          this.#classesWithin(child, continuations, secondBytesOf(byte));
      }
      const isCharacter = (byte & 0xc0) !== 0x80;
      height = Math.max(height, this.heights[child]! + Number(isCharacter));
    }
    this.classes[node] = classes;
    this.heights[node] = height;
  }

  /** Classes below a node that lies `left` bytes before the end of a character. */
  #classesWithin(node: number, left: number, [low, high]: readonly [number, number]): number {
    if (left === 0) return this.classes[node]!;
    let classes = 0;
    for (let child = node + 1; child < this.ends[node]!; child = this.ends[child]!) {
      const byte = this.bytes[child]!;
      classes |= byte < low || byte > high
        ? UNSAFE
        : this.#classesWithin(child, left - 1, [0x80, 0xbf]);
    }
    return classes;
  }
}

/** Bytes that a number holds exactly. */
const KEY_BYTES = 6;

/** The first bytes as a number that sorts like them, but for zero bytes at the end. */
function sortKey(bytes: Uint8Array): number {
  let key = 0;
  for (let index = 0; index < KEY_BYTES; index++) key = key * 256 + (bytes[index] ?? 0);
  return key;
}

/** Orders byte strings whose sort keys are equal. */
function compareFrom(a: Uint8Array, b: Uint8Array, start: number): number {
  const length = Math.min(a.length, b.length);
  for (let index = start; index < length; index++) {
    if (a[index] !== b[index]) return a[index]! - b[index]!;
  }
  return a.length - b.length;
}

function commonLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let index = 0;
  while (index < length && a[index] === b[index]) index++;
  return index;
}

/** Stands for more characters than any token has. */
const NOT_PLAIN = 0xffff;

/** Characters of a token, the last perhaps cut off; NOT_PLAIN where a string may not hold it. */
function plainLength(bytes: Uint8Array): number {
  let characters = 0;
  for (let index = 0; index < bytes.length; characters++) {
    const first = bytes[index++]!;
    const left = continuationsOf(first);
    if (left < 0 || (left === 0 && CLASS_OF[first] === UNSAFE)) return NOT_PLAIN;
    let [low, high] = secondBytesOf(first);
    for (let count = 0; count < left && index < bytes.length; count++) {
      const byte = bytes[index++]!;
      if (byte < low || byte > high) return NOT_PLAIN;
      [low, high] = [0x80, 0xbf];
    }
  }
  return characters;
}
