// WordPiece on a vocabulary small enough to follow by hand.

import { assertEquals } from "@std/assert";
import { createTokenizer } from "../../tokenizer/mod.ts";
import { kind, type Piece, vocabulary } from "./vocabularies.ts";

const pieces: Piece[] = [
  ["[UNK]", kind.control],
  ["[CLS]", kind.control],
  ["[SEP]", kind.control],
  ["▁un"],
  ["aff"],
  ["able"],
  ["affable"],
  ["▁cafe"],
  ["▁!"],
  ["▁中"],
  ["▁Un"],
];

const ids = {
  "tokenizer.ggml.unknown_token_id": 0,
  "tokenizer.ggml.cls_token_id": 1,
  "tokenizer.ggml.seperator_token_id": 2,
};

const tokenizer = createTokenizer(vocabulary("bert", pieces, ids));

Deno.test("encode() covers words from the left by the longest pieces", () => {
  assertEquals(tokenizer.encode("unaffable un"), [3, 6, 3]);
});

Deno.test("encode() gives the unknown token for a word that has a gap", () => {
  assertEquals(tokenizer.encode("unaffx un"), [0, 3]);
});

Deno.test("encode() lowercases, strips accents and sets punctuation and ideographs apart", () => {
  assertEquals(tokenizer.encode("Café!中\u200bun\u0000"), [7, 8, 9, 3]);
});

Deno.test("encode() keeps case where the normalizer does", () => {
  const more = { ...ids, "tokenizer.ggml.normalizer.lowercase": false };
  assertEquals(createTokenizer(vocabulary("bert", pieces, more)).encode("Un Café"), [10, 0]);
});

Deno.test("encode() frames a text with [CLS] and [SEP] where asked", () => {
  assertEquals(tokenizer.encode("un", { bos: true, eos: true }), [1, 3, 2]);
  assertEquals(tokenizer.decode([1, 3, 6, 8, 2]), "unaffable !");
});
