// Places in a text where only few bytes may come, as in a constant: there most subtrees below the
// root of the trie are dead ends.

import type { TextRules } from "../texts/text_rules.ts";
import type { TokenTable } from "../tokens/token_table.ts";

/** Most bytes that may come at such a place, the quote included. */
const NARROW = 4;

const QUOTE = 0x22;

/**
 * The nodes below the root for the bytes that may come in a state of a text, and for the quote, if
 * they are few; otherwise undefined. Errors: OutOfWork.
 */
export function narrowNodes(
  { bytes, ends, nodes }: TokenTable,
  { automaton }: TextRules,
  state: number,
): readonly number[] | undefined {
  const found: number[] = [];
  for (let child = 1; child < nodes; child = ends[child]!) {
    const byte = bytes[child]!;
    if (byte !== QUOTE && automaton.step(state, byte) === 0) continue;
    if (found.length === NARROW) return undefined;
    found.push(child);
  }
  return found;
}
