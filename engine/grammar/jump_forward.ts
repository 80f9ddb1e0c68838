// Jump-forward: where a document can continue in one way only, that text becomes tokens at once.
// The last of them are left to the model if a longer token could replace them, so that the answer
// is split into tokens as the model would have done it (SGLang, Zheng et al. 2024; llguidance).

import type { Tokenizer } from "../../tokenizer/mod.ts";
import { type Matcher, tokenTableOf } from "./compile.ts";
import type { TokenTable } from "./machine/token_table.ts";

/**
 * The tokens that a model would certainly write next, at most `most`; none if there is a choice.
 *
 * @param matcher is not changed
 */
export function forcedTokens(matcher: Matcher, tokenizer: Tokenizer, most: number): number[] {
  const bytes = matcher.forced();
  if (bytes.length === 0) return [];
  const whole = bytes.subarray(0, wholeCharacters(bytes));
  const tokens = tokenizer.encode(new TextDecoder().decode(whole), { special: false });
  const table = tokenTableOf(tokenizer);
  const sure: number[] = [];
  let sureLength = 0;
  let start = 0;
  for (const token of tokens) {
    const spelled = tokenizer.tokenBytes(token);
    // Some vocabularies put a space before a text. Then the bytes differ from those that must come.
    if (!table.isText(token) || !startsWith(whole.subarray(start), spelled)) break;
    start += spelled.length;
    sure.push(token);
    if (!isBeginning(table, whole.subarray(start - spelled.length))) sureLength = sure.length;
  }
  return sure.slice(0, Math.min(sureLength, most));
}

/** The number of bytes that are whole characters in UTF-8, from the beginning. */
function wholeCharacters(bytes: Uint8Array): number {
  let start = bytes.length;
  while (start > 0 && (bytes[start - 1]! & 0xC0) === 0x80) start--;
  if (start === 0) return 0;
  const lead = bytes[start - 1]!;
  const length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return start - 1 + length <= bytes.length ? start - 1 + length : start - 1;
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return beginning.length > 0 && beginning.every((byte, i) => bytes[i] === byte);
}

/** Whether some token begins with all of these bytes and is longer. */
function isBeginning({ bytes: steps, ends }: TokenTable, bytes: Uint8Array): boolean {
  let node = 0;
  for (const byte of bytes) {
    const end = ends[node]!;
    let child = node + 1;
    while (child < end && steps[child] !== byte) child = ends[child]!;
    if (child >= end) return false;
    node = child;
  }
  return ends[node]! > node + 1;
}
