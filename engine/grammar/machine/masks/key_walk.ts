// The tokens that stay within the declared keys of an object, and the places where others end a
// key. The sorted keys and the trie of tokens are walked side by side, without a state of the
// machine for each prefix.

import type { TokenTable } from "../tokens/token_table.ts";

/**
 * A range of sorted keys. A key may come if the count in `choices` is greater after it than before.
 */
export interface KeyRange {
  readonly keys: readonly Uint8Array[];
  readonly choices: Int32Array;
  readonly first: number;
  readonly end: number;
  /** Bytes that all keys of the range share and that have come. */
  readonly depth: number;
}

/** A quote that ends a key. */
export interface KeyExit {
  readonly node: number;
  /** The index of the key among the sorted ones. */
  readonly key: number;
}

const QUOTE = 0x22;

/** Sets the bits of the tokens below a node that stay within the keys. Returns the ends of keys. */
export function addKeys(
  table: TokenTable,
  bits: Uint32Array,
  node: number,
  { keys, choices, first, end, depth }: KeyRange,
): KeyExit[] {
  const { bytes, ends, firsts } = table;
  const exits: KeyExit[] = [];
  const walk = (from: number, low: number, high: number, at: number): void => {
    const ended = keys[low]!.length === at ? low++ : -1;
    const mayEnd = ended >= 0 && choices[ended + 1]! > choices[ended]!;
    for (let child = from + 1; child < ends[from]!; child = ends[child]!) {
      const byte = bytes[child]!;
      if (byte === QUOTE && mayEnd) exits.push({ node: child, key: ended });
      while (low < high && keys[low]![at]! < byte) low++;
      const begin = low;
      while (low < high && keys[low]![at] === byte) low++;
      if (choices[low] === choices[begin]) continue;
      table.addTokens(bits, firsts[child]!, firsts[child + 1]!);
      if (ends[child]! > child + 1) walk(child, begin, low, at + 1);
    }
  };
  if (first < end) walk(node, first, end, depth);
  return exits;
}
