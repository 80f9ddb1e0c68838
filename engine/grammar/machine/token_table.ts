// The tokens of a vocabulary as a flat trie of their bytes, in depth-first order: a subtree is a
// range of nodes, and its tokens are a range of the tokens sorted by their bytes.

import { BEYOND_ASCII, classOf, ROUGH } from "../language/mod.ts";

/** The input of a table. */
export interface TokenSource {
  /** Number of tokens, and the bound of their ids. */
  readonly size: number;
  readonly bytesOf: (token: number) => Uint8Array;
  /** Tokens that end an answer. */
  readonly endTokens: Iterable<number>;
  /** Whether a token stands for no text. */
  readonly isControl: (token: number) => boolean;
  /** The name of a control token. Without this, no control token can be asked for. */
  readonly piece?: (token: number) => string;
}

/** The first byte of a control token, which no text contains. */
export const CONTROL = 0xff;

/** The number of bytes that stand for a control token. */
export function spellControl(token: number): Uint8Array {
  return Uint8Array.of(
    CONTROL,
    ...[18, 12, 6, 0].map((shift) => 0x80 | ((token >>> shift) & 0x3f)),
  );
}

/** A sorted vocabulary. Nodes are in depth-first order; node 0 is the root. */
export class TokenTable {
  readonly size: number;
  readonly endTokens: ReadonlySet<number>;
  /** Most bytes of a token. */
  readonly longest: number;
  /** Tokens sorted by their bytes. */
  readonly sorted: Int32Array;
  readonly nodes: number;
  /** The last byte on the path to each node. */
  readonly bytes: Uint8Array;
  /** Number of bytes on the path to each node. */
  readonly depths: Uint16Array;
  /** The node after each node's subtree. */
  readonly ends: Int32Array;
  /**
   * The index in `sorted` of the first token of each node's subtree, and the number of tokens at
   * the end. The tokens of the node itself are those before the next node's.
   */
  readonly firsts: Int32Array;
  /** The tokens as characters of strings. */
  readonly characters: TokenCharacters;
  /** Control tokens by name. */
  readonly controls: ReadonlyMap<string, number>;
  /** By byte: its node below the root; -1 if no token begins with it. */
  readonly #beginnings = new Int32Array(256).fill(-1);
  /** Bits of the tokens that are in the trie. */
  readonly #texts: Uint32Array;
  readonly #bytesOf: (token: number) => Uint8Array;

  /** Sorts a vocabulary: half a second for 128,000 tokens at most. */
  static of(source: TokenSource): TokenTable {
    return new TokenTable(source);
  }

  private constructor(source: TokenSource) {
    const { size, endTokens, isControl, piece } = source;

    this.size = size;
    this.endTokens = new Set(endTokens);
    const bytesOf = (token: number) =>
      isControl(token) ? spellControl(token) : source.bytesOf(token);
    this.#bytesOf = bytesOf;
    const controls = new Map<string, number>();
    this.controls = controls;
    this.#texts = new Uint32Array(Math.ceil(size / 32));
    const tokens: { id: number; bytes: Uint8Array; key: number }[] = [];
    for (let id = 0; id < size; id++) {
      if (this.endTokens.has(id)) continue;
      const name = isControl(id) ? piece?.(id) ?? "" : undefined;
      if (name === "") continue;
      if (name !== undefined) controls.set(name, id);
      const bytes = bytesOf(id);
      const isText = name !== undefined || !bytes.includes(CONTROL);
      if (isText && bytes.length > 0) tokens.push({ id, bytes, key: sortKey(bytes) });
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
    tokens.forEach(({ bytes: token }, index) => {
      const common = commonLength(previous, token);
      while (path.length > common + 1) ends[path.pop()!] = nodes;
      for (let depth = common; depth < token.length; depth++) {
        bytes[nodes] = token[depth]!;
        depths[nodes] = depth + 1;
        firsts[nodes] = index;
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
    for (let node = 1; node < nodes; node = ends[node]!) this.#beginnings[bytes[node]!] = node;
    this.characters = new TokenCharacters(this);
  }

  bytesOf(token: number): Uint8Array {
    return this.#bytesOf(token);
  }

  /** Whether a token is in the trie: a text token, or a control token that can be asked for. */
  isText(token: number): boolean {
    return ((this.#texts[token >>> 5]! >>> (token & 31)) & 1) === 1;
  }

  /** Whether a token is a control token that can be asked for. */
  isControl(token: number): boolean {
    return this.isText(token) && this.#bytesOf(token)[0] === CONTROL;
  }

  /** Sets the bits of a range of the sorted tokens. */
  addTokens(bits: Uint32Array, first: number, end: number): void {
    const { sorted } = this;
    for (let index = first; index < end; index++) {
      const token = sorted[index]!;
      bits[token >>> 5]! |= 1 << (token & 31);
    }
  }

  /** Sets the bits of the tokens that end at a node. */
  addTokensAt(bits: Uint32Array, node: number): void {
    this.addTokens(bits, this.firsts[node]!, this.firsts[node + 1]!);
  }

  /** Whether no token goes on behind a node. */
  isLeaf(node: number): boolean {
    return this.ends[node] === node + 1;
  }

  /** Sets the bits of the tokens that end below a node. */
  addTokensBelow(bits: Uint32Array, node: number): void {
    this.addTokens(bits, this.firsts[node + 1]!, this.firsts[this.ends[node]!]!);
  }

  /** Sets the bits of the tokens that end at or below a node. */
  addTokensFrom(bits: Uint32Array, node: number): void {
    this.addTokens(bits, this.firsts[node]!, this.firsts[this.ends[node]!]!);
  }

  /** Clears the bits of the tokens that end at or below a node. */
  removeTokensFrom(bits: Uint32Array, node: number): void {
    const { sorted, firsts } = this;
    const end = firsts[this.ends[node]!]!;
    for (let index = firsts[node]!; index < end; index++) {
      const token = sorted[index]!;
      bits[token >>> 5]! &= ~(1 << (token & 31));
    }
  }

  /** The node after one more byte; -1 if no token goes on with it. */
  childOf(node: number, byte: number): number {
    if (node === 0) return this.#beginnings[byte]!;
    const end = this.ends[node]!;
    let child = node + 1;
    while (child < end && this.bytes[child] !== byte) child = this.ends[child]!;
    return child < end ? child : -1;
  }

  /** Most times that tokens repeat a byte at their beginning. */
  runOf(byte: number): number {
    let run = 0;
    for (let node = this.childOf(0, byte); node >= 0; node = this.childOf(node, byte)) run++;
    return run;
  }

  /** The bytes that lead to a node. */
  pathTo(node: number): Uint8Array {
    return this.#bytesOf(this.sorted[this.firsts[node]!]!).subarray(0, this.depths[node]!);
  }
}

/** Bytes that a number can hold exactly. */
const KEY_BYTES = 6;

/** The first bytes as a number with the same order, except for zero bytes at the end. */
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

// What the tokens of a trie are as characters of strings: which are plain text, of which classes and
// how long, and where the others leave plain text.

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

/** Masks that are kept: 4 MB for 128,000 tokens. */
const MAX_MASKS = 256;

/** A trie of tokens, in depth-first order. */
interface Trie {
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
class TokenCharacters {
  /** By node: the class of its character; ROUGH for what is not UTF-8. */
  readonly own: Int32Array;
  /** Classes of the characters below each node. */
  readonly below: Int32Array;
  /** Most characters below each node. */
  readonly heights: Uint16Array;
  /**
   * By node: the first one from it on that is on the way to where a token leaves plain text by what
   * a string may contain, or beyond; the number of nodes if there is none.
   */
  readonly rough: Int32Array;
  readonly #trie: Trie;
  /** By node: whether the characters on the path to it are plain. */
  readonly #isPlain: Uint8Array;
  /** By index of a sorted token: the classes of its characters, and their number. */
  readonly #tokenClasses: Int32Array;
  readonly #tokenLengths: Uint16Array;
  /** Masks of plain tokens, by their classes and most characters as one number. */
  readonly #masks = new Map<number, Uint32Array>();
  /** By classes: a token of each number of characters, the longest first. */
  readonly #samples = new Map<number, readonly number[]>();

  /** Reads all tokens of a trie. */
  constructor(trie: Trie) {
    const { nodes, bytes, depths, ends, firsts, sorted } = trie;
    this.#trie = trie;
    this.below = new Int32Array(nodes);
    this.heights = new Uint16Array(nodes);
    this.rough = new Int32Array(nodes + 1).fill(nodes);
    this.#isPlain = new Uint8Array(nodes);
    this.#isPlain[0] = 1;
    this.#tokenClasses = new Int32Array(sorted.length);
    this.#tokenLengths = new Uint16Array(sorted.length);
    const lengths = new Uint16Array(nodes);
    const parents = new Int32Array(nodes);
    const own = new Int32Array(nodes);
    this.own = own;
    const classes = new Int32Array(nodes);
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
      classes[node] = classes[parent]! | own[node]!;
      this.#isPlain[node] = Number((classes[node]! & ROUGH) === 0);
      lengths[node] = lengths[parent]! + Number(isFirst(byte));
      for (let at = firsts[node]!; at < firsts[node + 1]!; at++) {
        this.#tokenClasses[at] = classes[node]!;
        this.#tokenLengths[at] = lengths[node]!;
      }
      if (!leaves || (classes[parent]! & ROUGH) !== 0) continue;
      isRough.fill(1, node, ends[node]);
      for (let at = parent; at > 0 && isRough[at] === 0; at = parents[at]!) isRough[at] = 1;
    }
    for (let node = nodes - 1; node > 0; node--) {
      const parent = parents[node]!;
      this.below[parent]! |= this.below[node]! | own[node]!;
      this.heights[parent] = Math.max(this.heights[parent]!, this.heightOf(node));
      this.rough[node] = isRough[node] === 1 ? node : this.rough[node + 1]!;
    }
  }

  /** Whether all characters on the path to a node are plain. */
  isPlain(node: number): boolean {
    return this.#isPlain[node] === 1;
  }

  /** Most characters from a node on, its own included. */
  heightOf(node: number): number {
    return this.heights[node]! + Number(isFirst(this.#trie.bytes[node]!));
  }

  /**
   * Sets the bits of the tokens below a node that are plain text of some classes and have at most so
   * many characters, what is before the node included.
   */
  addPlain(bits: Uint32Array, node: number, classes: number, most: number): void {
    const { nodes, ends } = this.#trie;
    if (node !== 0) return this.#addPlain(bits, node + 1, ends[node]!, classes, most);
    const length = Math.max(0, Math.min(most, this.heights[0]!));
    const key = classes * 0x10000 + length;
    let mask = this.#masks.get(key);
    if (!mask) {
      if (this.#masks.size === MAX_MASKS) this.#masks.clear();
      this.#masks.set(key, mask = new Uint32Array(bits.length));
      this.#addPlain(mask, 1, nodes, classes, length);
    }
    for (let word = 0; word < mask.length; word++) bits[word]! |= mask[word]!;
  }

  #addPlain(bits: Uint32Array, first: number, end: number, classes: number, most: number): void {
    const { firsts, sorted } = this.#trie;
    const others = ~classes;
    const tokenClasses = this.#tokenClasses;
    const tokenLengths = this.#tokenLengths;
    const last = firsts[end]!;
    for (let at = firsts[first]!; at < last; at++) {
      if ((tokenClasses[at]! & others) !== 0 || tokenLengths[at]! > most) continue;
      const token = sorted[at]!;
      bits[token >>> 5]! |= 1 << (token & 31);
    }
  }

  /** Of the tokens of some classes one of each number of characters, the longest first. */
  ofEachLength(classes: number): readonly number[] {
    let found = this.#samples.get(classes);
    if (!found) {
      const byLength: number[] = [];
      this.#trie.sorted.forEach((token, at) => {
        if ((this.#tokenClasses[at]! & ~classes) !== 0) return;
        byLength[this.#tokenLengths[at]!] ??= token;
      });
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
