// The places where tokens leave plain text: quotes and backslashes after characters without
// escapes, and line separators, which many patterns treat separately. They are few, so for a string
// that accepts every other character nothing else has to be visited.

import {
  BEYOND_ASCII,
  CLASS_OF,
  continuationsOf,
  isSeparator,
  LINE_SEPARATORS,
  secondBytesOf,
  UNSAFE,
} from "../texts/character_classes.ts";

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

/** The trie in which breaks are found, in depth-first order. */
export interface Trie {
  readonly nodes: number;
  readonly bytes: Uint8Array;
  readonly depths: Uint16Array;
  readonly ends: Int32Array;
}

/** A quote or backslash after plain characters, or the last byte of the first line separator. */
export interface TextBreak {
  readonly node: number;
  /** The plain bytes that lead to it. */
  readonly path: Uint8Array;
  /** Number of these characters. */
  readonly characters: number;
  /** Their classes. */
  readonly classes: number;
  readonly isSeparator: boolean;
}

/** The breaks of a trie of tokens, in the order of their nodes. */
export function findBreaks({ nodes, bytes, depths, ends }: Trie): TextBreak[] {
  const found: TextBreak[] = [];
  const longest = depths.reduce((most, depth) => Math.max(most, depth), 0);
  // By depth: what is known of the path, and the bytes that a begun character lacks.
  const path = new Uint8Array(longest + 1);
  const characters = new Int32Array(longest + 1);
  const classes = new Int32Array(longest + 1);
  const missing = new Int32Array(longest + 1);
  const lowest = new Int32Array(longest + 1).fill(0x80);
  const highest = new Int32Array(longest + 1).fill(0xbf);
  for (let node = 1; node < nodes;) {
    const depth = depths[node]!;
    const byte = bytes[node]!;
    const before = depth - 1;
    path[depth] = byte;
    let goesOn: boolean;
    if (missing[before]! > 0) {
      goesOn = byte >= lowest[before]! && byte <= highest[before]!;
      missing[depth] = missing[before]! - 1;
      [lowest[depth], highest[depth]] = [0x80, 0xbf];
      const begun = 256 * path[before - 1]! + path[before]!;
      const isLine = missing[depth] === 0 && isSeparator(begun, byte);
      if (isLine && goesOn && (classes[before]! & LINE_SEPARATORS) === 0) {
        found.push({
          node,
          path: path.slice(1, depth),
          characters: characters[before]!,
          classes: classes[before]!,
          isSeparator: true,
        });
      }
      const ended = isLine ? LINE_SEPARATORS : BEYOND_ASCII;
      classes[depth] = classes[before]! | (missing[depth] === 0 ? ended : 0);
      characters[depth] = characters[before]! + Number(missing[depth] === 0);
    } else {
      if (byte === QUOTE || byte === BACKSLASH) {
        found.push({
          node,
          path: path.slice(1, depth),
          characters: characters[before]!,
          classes: classes[before]!,
          isSeparator: false,
        });
      }
      const left = continuationsOf(byte);
      goesOn = left > 0 || (left === 0 && CLASS_OF[byte] !== UNSAFE);
      missing[depth] = Math.max(left, 0);
      [lowest[depth], highest[depth]] = secondBytesOf(byte);
      classes[depth] = classes[before]! | (left === 0 ? CLASS_OF[byte]! : 0);
      characters[depth] = characters[before]! + Number(left === 0);
    }
    node = goesOn ? node + 1 : ends[node]!;
  }
  return found;
}

/** The index of the first break whose node is at least `least`. */
export function placeOf(sorted: readonly TextBreak[], least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.node < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
