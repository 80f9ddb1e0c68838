// Random hostile texts and values, which areas put into requests.

import type { Draws } from "../../engine/grammar/fuzz/draws.ts";

/** JSON texts of values that no member expects, as they are sent. */
const VALUES = [
  ...[
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "0.5",
    "1e308",
    "-1e308",
    "1e400",
    "-1e400",
    "1e-400",
  ],
  ...["2147483647", "2147483648", "4294967296", "9007199254740993", "-9007199254740993", "1e21"],
  ...['""', '" "', '"x"', '"\\u0000"', '"\\ud800"', '"\\n\\r"', '"NaN"', '"1e999"', '"../.."'],
  ...["[]", "{}", "[[]]", "[null]", '[""]', '{"":{}}', '{"a":[]}', '{"__proto__":{"a":1}}'],
  ...['{"toString":1}', '{"constructor":{"prototype":{}}}', '{"length":1e9}', "[1e400]"],
];

/** The JSON text of a hostile value: a plain one most of the time, else a large one. */
export function hostileValue(draws: Draws): string {
  if (!draws.oneIn(5)) return draws.one(VALUES);
  const count = draws.one([100, 1000, 20_000]);
  return draws.one([
    () => JSON.stringify(hostileText(draws, count)),
    () => `[${Array(count).fill(draws.one(VALUES)).join(",")}]`,
    () => `{${Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join(",")}}`,
    () => nested(draws.between(2, 700)),
    () => "9".repeat(count),
  ])();
}

/** Brackets in brackets. */
export function nested(depth: number, inner = ""): string {
  return "[".repeat(depth) + inner + "]".repeat(depth);
}

const PIECES = [
  ...[
    "a",
    " ",
    "x ",
    "\n",
    "\t",
    "é",
    "漢字",
    "😀",
    "👍🏽",
    "\u0000",
    "\ufeff",
    "\u202e",
    "\ud800",
    '"',
  ],
  ...["\\", "{{", "}}", "{%", "%}", "</s>", "<s>", "<|im_start|>", "<|im_end|>", "<think>", "%s"],
  ...["<tool_call>", "</tool_call>", "<|endoftext|>", "[INST]", "<start_of_turn>", "\u2581", "Ġ"],
];

/** A text of about this many characters: one piece repeated, or a mixture. */
export function hostileText(draws: Draws, length: number): string {
  const piece = draws.one(PIECES);
  const isMixed = draws.oneIn(2);
  let text = "";
  while (text.length < length) text += isMixed ? draws.one(PIECES) : piece;
  return text;
}

/** Random bytes. */
export function randomBytes(draws: Draws, length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, () => draws.below(256));
}
