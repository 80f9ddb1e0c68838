// Which tokens are plain text, and where the others leave it, beside patterns tried on each token.

import { assert, assertEquals } from "@std/assert";
import { classesOf, EVERY_CLASS } from "../../../../engine/grammar/language/mod.ts";
import { tableOf } from "./fake_automata.ts";

const encoder = new TextEncoder();
const TEXTS = [
  ...["ab", "a b", "abc", 'ab"', '"', "a\\n", "\\", "a\n", "\n", "é", "aé", 'é"', "日本", "日本\\"],
  ...[
    "\u2028",
    "a\u2029b",
    "\u2027",
    "\u202a",
    "a\u2028日",
    "😀",
    "😀😀",
    "\u007f",
    "zz\u0000",
    "09",
  ],
];
const CUT = [[0x61, 0xe6, 0x97], [0xe2, 0x80], [0xf0, 0x9f], [0xc3]];
const BROKEN = [[0x80, 0x61], [0xed, 0xa0], [0xc3, 0x28], [0xe0, 0x80, 0x80], [0xf4, 0x90], [0xc0]];
const tokens = [...TEXTS.map((text) => encoder.encode(text)), ...CUT, ...BROKEN]
  .map((bytes) => Uint8Array.from(bytes));
const table = tableOf(...tokens);
const has = (bits: Uint32Array, token: number) => (bits[token >>> 5]! >>> (token & 31) & 1) === 1;

/** The tokens of some classes with at most so many characters. */
function plain(classes: number, most: number): string[] {
  const bits = new Uint32Array(Math.ceil(table.size / 32));
  table.characters.addPlain(bits, 0, classes, most);
  return tokens.flatMap((bytes, at) => has(bits, 256 + at) ? [bytes.join()] : []);
}

const bytesOf = (texts: readonly string[]) => texts.map((text) => encoder.encode(text).join());

Deno.test("plain tokens have no quote, escape, control character or line separator", () => {
  const texts = TEXTS.filter((text) => !/["\\\p{Cc}\u2028\u2029]/u.test(text) || text === "\u007f");
  const cut = CUT.map((bytes) => bytes.join());
  assertEquals(plain(EVERY_CLASS, 9), [...bytesOf(texts), ...cut]);
  const short = texts.filter((text) => [...text].length === 1);
  assertEquals(plain(EVERY_CLASS, 1), [...bytesOf(short), ...cut.slice(1)]);
  const letters = classesOf("abcdefghijklmnopqrstuvwxyz ");
  assertEquals(plain(letters, 9), bytesOf(["ab", "a b", "abc"]));
});

Deno.test("all nodes of what leads out of plain text are found", () => {
  const { rough } = table.characters;
  const found = new Set<number>();
  for (let node = rough[1]!; node < table.nodes; node = rough[node + 1]!) found.add(node);
  for (const text of TEXTS) {
    const isOut = /["\\\u2028\u2029]/u.test(text);
    const path = [...encoder.encode(text)];
    let node = 0;
    for (const byte of path) {
      node = table.childOf(node, byte);
      if (isOut) assert(found.has(node), text);
    }
    // Plain text may be on the way to other tokens.
    if (!isOut && table.ends[node] === node + 1) assert(!found.has(node), text);
  }
});
