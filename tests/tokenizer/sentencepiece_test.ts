// SentencePiece by score merging, on vocabularies small enough to follow by hand.

import { assert, assertEquals } from "@std/assert";
import { createTokenizer } from "../../tokenizer/mod.ts";
import { kind, sentencePiece, vocabulary } from "./vocabularies.ts";
import { threadTime } from "../cpu_time.ts";

const words = createTokenizer(sentencePiece([
  ["▁", kind.normal, -10], // 259
  ["a", kind.normal, -11],
  ["b", kind.normal, -12],
  ["c", kind.normal, -13],
  ["ab", kind.normal, -2], // 263
  ["bc", kind.normal, -1], // 264
  ["▁a", kind.normal, -3], // 265
  ["abc", kind.normal, -4], // 266
  ["<tool>", kind.userDefined], // 267
]));

Deno.test("encode() joins the pair with the best score first", () => {
  // "bc" beats "ab"; then "▁a" stands, and "▁abc" is no piece.
  assertEquals(words.encode("abc"), [265, 264]);
});

Deno.test("encode() joins the leftmost of equal pairs", () => {
  const equal = createTokenizer(sentencePiece([["a"], ["▁"], ["aa"]]));
  assertEquals(equal.encode("aaa").slice(1), [261, 259]);
});

Deno.test("encode() puts a space before a text and after each special token", () => {
  assertEquals(words.encode("a<s>a<tool>a"), [265, 1, 265, 267, 265]);
});

Deno.test("encode() leaves the space out where add_space_prefix is false", () => {
  const bare = createTokenizer(
    sentencePiece([["a"], ["▁a"]], { "tokenizer.ggml.add_space_prefix": false }),
  );
  assertEquals(bare.encode("a a"), [259, 260]);
});

Deno.test("encode() falls back to bytes for characters without a piece", () => {
  const ids = words.encode("é🙂");
  assertEquals(ids, [259, 3 + 0xc3, 3 + 0xa9, 3 + 0xf0, 3 + 0x9f, 3 + 0x99, 3 + 0x82]);
  assertEquals(words.decode(ids), "é🙂");
});

Deno.test("encode() gives the unknown token where a byte token is missing too", () => {
  const poor = createTokenizer(vocabulary("llama", [["<unk>", kind.unknown], ["▁"], ["a"]]));
  assertEquals(poor.encode("aé"), [1, 2, 0, 0]);
});

Deno.test("decode() takes off the space that encode() put before", () => {
  for (const text of ["a b", " a", "  abc ", "", "\n"]) {
    assertEquals(words.decode(words.encode(text)), text);
  }
});

Deno.test("encode() of 100000 equal letters, spaces or lone bytes takes less than 3 s each", () => {
  for (const unit of ["a", " ", "é", "ab"]) {
    const text = unit.repeat(100_000);
    const start = threadTime();
    const ids = words.encode(text);
    assert(threadTime() - start < 3000, `${JSON.stringify(unit)} is not near-linear`);
    assertEquals(words.decode(ids), text);
  }
});
