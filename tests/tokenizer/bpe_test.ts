// Byte pair encoding on vocabularies small enough to follow by hand.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createTokenizer, TokenizerError } from "../../tokenizer/mod.ts";
import { bytePairs, kind, vocabulary } from "./vocabularies.ts";
import { threadTime } from "../cpu_time.ts";
import { share } from "../share.ts";

const a = 97;
const b = 98;
const c = 99;

Deno.test("encode() applies merges in the order of the list, not of the text", () => {
  const first = createTokenizer(bytePairs(["a b", "b c"]));
  assertEquals(first.encode("abc"), [256, c]);
  const second = createTokenizer(bytePairs(["b c", "a b"]));
  assertEquals(second.encode("abc"), [a, 256]);
});

Deno.test("encode() counts the first of two equal merges", () => {
  const tokenizer = createTokenizer(bytePairs(["b c", "a b", "b c"]));
  assertEquals(tokenizer.encode("abc"), [a, 256]);
});

Deno.test("encode() merges what was merged before", () => {
  const tokenizer = createTokenizer(bytePairs(["a b", "ab c", "abc abc"]));
  assertEquals(tokenizer.encode("abcabcab"), [258, 256]);
});

Deno.test("encode() never merges across words", () => {
  const tokenizer = createTokenizer(bytePairs(["b Ġ", "Ġ b"]));
  assertEquals(tokenizer.encode("b b"), [b, 257]);
});

Deno.test("encode() takes a whole word where the pre-tokenizer says so", () => {
  const more = { "tokenizer.ggml.pre": "llama-bpe" };
  const tokenizer = createTokenizer(bytePairs(["b c"], [["abc"]], more));
  assertEquals(tokenizer.encode("abc"), [257]);
  assertEquals(createTokenizer(bytePairs(["b c"], [["abc"]])).encode("abc"), [a, 256]);
});

Deno.test("encode() and decode() carry every byte and every plane of Unicode", () => {
  const tokenizer = createTokenizer(bytePairs(["ð Ł"]));
  const text = "\0\u007f\u00ad\u0100é中🙂\u{10ffff}\ufeff\r\n";
  assertEquals(tokenizer.decode(tokenizer.encode(text)), text);
  assertEquals(tokenizer.encode("é"), [0xc3, 0xa9]);
});

Deno.test("encode() writes U+FFFD for half of a surrogate pair", () => {
  const tokenizer = createTokenizer(bytePairs([]));
  assertEquals(tokenizer.encode("\ud83d"), [0xef, 0xbf, 0xbd]);
});

Deno.test("encode() drops bytes that the vocabulary lacks", () => {
  const tokenizer = createTokenizer(
    vocabulary("gpt2", [["a"], ["b"]], { "tokenizer.ggml.merges": [] }),
  );
  assertEquals(tokenizer.encode("aéb"), [0, 1]);
});

Deno.test("encode() of Gemma 4 marks spaces, keeps characters and falls back to bytes", () => {
  const tokenizer = createTokenizer(vocabulary("gemma4", [
    ["<bos>", kind.control],
    ["a"],
    ["▁"],
    ["▁a"],
    ["\n\n"],
    ["<0xC3>", kind.byte],
    ["<0xA9>", kind.byte],
  ], { "tokenizer.ggml.merges": ["▁ a"], "tokenizer.ggml.bos_token_id": 0 }));
  const ids = tokenizer.encode("a a\n\né", { bos: true });
  assertEquals(ids, [0, 1, 3, 4, 5, 6]);
  assertEquals(tokenizer.decode(ids), "a a\n\né");
});

Deno.test("createTokenizer() refuses byte pair encoding without merges", () => {
  assertThrows(() => createTokenizer(vocabulary("gpt2", [["a"]])), TokenizerError, "merges");
});

Deno.test("encode() of 40000 equal letters, digits or spaces takes less than 1.2 s each", () => {
  const names = ["gpt-2", "llama-bpe", "qwen2", "gpt-4o", "deepseek-llm", "falcon", "?"];
  for (const [index, pre] of names.entries()) {
    const tokenizer = createTokenizer(
      bytePairs(["a a", "aa aa", "Ġ Ġ"], [], { "tokenizer.ggml.pre": pre }),
    );
    for (const [at, unit] of ["a", "A", " ", "1", "'", "\n"].entries()) {
      // Every day a third of the pairs, which has each name and each unit.
      if ((index + at) % share(3, 1) > 0) continue;
      const text = unit.repeat(40_000);
      const start = threadTime();
      const ids = tokenizer.encode(text);
      const name = `${pre} ${JSON.stringify(unit)}`;
      assert(threadTime() - start < 1200, `${name} is not near-linear`);
      assertEquals(tokenizer.decode(ids), text, name);
    }
  }
});
