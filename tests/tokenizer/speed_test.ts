// No text makes an algorithm slow: a text without a space takes about as long as any other.
// Limits are far above what is measured (bench/tokenizer.ts) and far below what quadratic time needs.

import { assert, assertEquals } from "@std/assert";
import { createTokenizer, type Metadata } from "../../tokenizer/mod.ts";
import { seeded, spacelessTexts } from "./random_texts.ts";
import {
  byteCharacters,
  bytePairs,
  kind,
  type Piece,
  sentencePiece,
  vocabulary,
} from "./vocabularies.ts";
import { threadTime } from "../cpu_time.ts";
import { share } from "../share.ts";

const LENGTH = share(40_000, 100_000);
/** In milliseconds: 3 s for 100,000 characters. */
const LIMIT = 0.03 * LENGTH;

const random = seeded(8);

/** All pairs of small letters, and long rows of one. */
const pieces: Piece[] = [];
const merges: string[] = [];
for (let left = 97; left < 123; left++) {
  for (let right = 97; right < 123; right++) {
    pieces.push([String.fromCharCode(left, right), kind.normal, -1 - random(1000)]);
    merges.push(`${String.fromCharCode(left)} ${String.fromCharCode(right)}`);
  }
}
for (let length = 2; length <= 32; length *= 2) {
  pieces.push(["a".repeat(2 * length), kind.normal, -length]);
  merges.push(`${"a".repeat(length)} ${"a".repeat(length)}`);
}
for (const lead of [0xe4, 0xf0]) {
  for (let trail = 0x80; trail < 0xc0; trail++) {
    merges.push(`${byteCharacters[lead]} ${byteCharacters[trail]}`);
  }
}
const single = Array.from({ length: 26 }, (_, index): Piece => [
  String.fromCharCode(97 + index),
  kind.normal,
  -2000,
]);
const ids = { "tokenizer.ggml.unknown_token_id": 0 };

const vocabularies: Readonly<Record<string, Metadata>> = {
  "byte-level BPE": bytePairs(merges, [], { "tokenizer.ggml.pre": "gpt-4o" }),
  "byte-level BPE, several cutters": bytePairs(merges, [], {
    "tokenizer.ggml.pre": "deepseek-llm",
  }),
  "Gemma 4": vocabulary("gemma4", [...single, ...pieces], { "tokenizer.ggml.merges": merges }),
  SentencePiece: sentencePiece([...single, ...pieces]),
  "SentencePiece with marks inside": sentencePiece([...single, ...pieces, ["a▁a"]]),
  WordPiece: vocabulary("bert", [["▁a"], ...single, ...pieces], ids),
  Unigram: vocabulary("t5", [["<unk>", kind.unknown], ...single, ...pieces], ids),
};

for (const [name, metadata] of Object.entries(vocabularies)) {
  Deno.test(`encode() of ${LENGTH} characters without a space takes less than ${LIMIT} ms, ${name}`, () => {
    const tokenizer = createTokenizer(metadata);
    for (const [kind, text] of Object.entries(spacelessTexts(LENGTH))) {
      const start = threadTime();
      const ids = tokenizer.encode(text);
      assert(threadTime() - start < LIMIT, kind);
      if (name.startsWith("byte-level")) assertEquals(tokenizer.decode(ids), text);
    }
  });
}
