// The tokens of a vocabulary as a flat trie of their bytes, in depth-first order: a subtree is a
// range of nodes, and its tokens are a range of the tokens sorted by their bytes.

import { TokenCharacters } from "./token_characters.ts";

/** The input of a table. */
export interface TokenSource {
  /** Number of tokens, and the bound of their ids. */
  readonly size: number;
  /** The bytes of a token. */
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
  /** Number of nodes. */
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

  /** The bytes of a token. */
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

  /** Sets the bits of the tokens that end below a node. */
  addTokensBelow(bits: Uint32Array, node: number): void {
    this.addTokens(bits, this.firsts[node + 1]!, this.firsts[this.ends[node]!]!);
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
