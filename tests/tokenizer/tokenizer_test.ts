// What all vocabularies share: special tokens, BOS, ends of generation, damage, ids without text.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createTokenizer, TokenizerError } from "../../tokenizer/mod.ts";
import { bytePairs, kind, type Piece, sentencePiece, vocabulary } from "./vocabularies.ts";
import { threadTime } from "../cpu_time.ts";

const specials: Piece[] = [
  ["<a>", kind.control], // 256
  ["<a><b>", kind.control], // 257
  ["<keep>", kind.userDefined], // 258
  ["  ", kind.userDefined], // 259
];

Deno.test("encode() claims the longest special token first", () => {
  const tokenizer = createTokenizer(bytePairs([], specials));
  assertEquals(tokenizer.encode("<a><b><a>x"), [257, 256, 120]);
});

Deno.test("encode() prefers a longer special token to one further left", () => {
  const tokenizer = createTokenizer(bytePairs([], [["xy", kind.control], ["yzz", kind.control]]));
  assertEquals(tokenizer.encode("xyzz"), [120, 257]);
});

Deno.test("encode() with special false parses user-defined tokens only", () => {
  const tokenizer = createTokenizer(bytePairs([], specials));
  const ids = tokenizer.encode("<a><keep>   ", { special: false });
  assertEquals(ids, [..."<a>"].map((letter) => letter.charCodeAt(0)).concat(258, 259, 32));
  assertEquals(tokenizer.decode(ids), "<a><keep>   ");
});

Deno.test("encode() of Phi-3 takes the white space after special tokens along", () => {
  const pieces: Piece[] = [["▁a"], ["<|end|>", kind.control], ["▁"]];
  const phi = createTokenizer(sentencePiece(pieces, { "general.name": "Phi3 mini" }));
  assertEquals(phi.encode("a<|end|> \na<s> "), [259, 260, 259, 1, 261, 261]);
  const other = createTokenizer(sentencePiece(pieces));
  assertEquals(other.encode("<|end|> a"), [260, 261, 259]);
});

Deno.test("encode() of ModernBERT and its like takes the white space before a mask along", () => {
  const pieces: Piece[] = [["[MASK]", kind.control], ["<mask>", kind.control]];
  const encode = (more: Record<string, string>) =>
    createTokenizer(bytePairs([], pieces, more)).encode("a \t[MASK] b <mask>");
  const [a, b, space, tab] = [97, 98, 32, 9];
  const plain = [a, space, tab, 256, space, b, space, 257];
  assertEquals(encode({}), plain);
  assertEquals(encode({ "general.name": "modern-bert" }), [a, 256, space, b, space, 257]);
  assertEquals(encode({ "tokenizer.ggml.pre": "jina-v2-de" }), [...plain.slice(0, 6), 257]);
});

Deno.test("encode() puts BOS where asked, wanted and missing", () => {
  const tokenizer = createTokenizer(sentencePiece([["▁a"]]));
  assertEquals(tokenizer.addBos, true);
  assertEquals(tokenizer.encode("a"), [259]);
  assertEquals(tokenizer.encode("a", { bos: true }), [1, 259]);
  assertEquals(tokenizer.encode("<s>a", { bos: true }), [1, 259]);
  assertEquals(tokenizer.encode("", { bos: true }), [1]);
  const without = sentencePiece([["▁a"]], { "tokenizer.ggml.add_bos_token": false });
  assertEquals(createTokenizer(without).encode("a", { bos: true }), [259]);
});

Deno.test("encode() puts EOS where asked and wanted", () => {
  const wanted = createTokenizer(sentencePiece([["▁a"]], { "tokenizer.ggml.add_eos_token": true }));
  assertEquals(wanted.encode("a", { eos: true }), [259, 2]);
  assertEquals(createTokenizer(sentencePiece([["▁a"]])).encode("a", { eos: true }), [259]);
});

Deno.test("decode() shows control tokens only where asked", () => {
  const tokenizer = createTokenizer(bytePairs([], specials));
  assertEquals(tokenizer.decode([97, 256, 98]), "ab");
  assertEquals(tokenizer.decode([97, 256, 98], { special: true }), "a<a>b");
  assert(tokenizer.isControl(256) && !tokenizer.isControl(258) && !tokenizer.isControl(97));
});

Deno.test("endOfGeneration has EOS, EOT, EOM and the well-known ends", () => {
  const pieces: Piece[] = [["<x>"], ["<y>"], ["<|im_end|>"], ["<end_of_turn>"], ["<|eom_id|>"]];
  const tokenizer = createTokenizer(bytePairs([], pieces, {
    "tokenizer.ggml.eos_token_id": 256,
    "tokenizer.ggml.eot_token_id": 257,
  }));
  assertEquals([...tokenizer.endOfGeneration].sort(), [256, 257, 258, 259, 260]);
  assert(tokenizer.isControl(258), "an end piece controls, whatever the file calls it");
});

Deno.test("endOfGeneration of gpt-oss leaves out <|end|>, which ends a message only", () => {
  const names = ["<|end|>", "<|return|>", "<|call|>", "<|channel|>"];
  const pieces = names.map((name): Piece => [name, kind.control]);
  const tokenizer = createTokenizer(bytePairs([], pieces));
  assertEquals([...tokenizer.endOfGeneration].sort(), [257, 258]);
  assertEquals(tokenizer.decode([259, 97, 256]), "<|channel|>a<|end|>");
});

Deno.test("createTokenizer() takes ids that name no token for none", () => {
  const tokenizer = createTokenizer(bytePairs([], [], {
    "tokenizer.ggml.padding_token_id": 4294967295,
    "tokenizer.ggml.bos_token_id": 4294967295,
    "tokenizer.ggml.eos_token_id": -1,
    "tokenizer.ggml.eot_token_id": 18446744073709551615n,
    "tokenizer.ggml.add_bos_token": true,
  }));
  assertEquals(tokenizer.bosToken, undefined);
  assertEquals(tokenizer.eosToken, undefined);
  assertEquals(tokenizer.addBos, false);
  assertEquals(tokenizer.endOfGeneration.size, 0);
});

Deno.test("createTokenizer() bears empty and equal pieces, and lists without kinds", () => {
  const pieces: Piece[] = [["", kind.control], ["▁a"], ["▁a"], ["", kind.userDefined]];
  const tokenizer = createTokenizer(sentencePiece(pieces));
  assertEquals(tokenizer.encode("a"), [260]);
  assertEquals(tokenizer.decode([259, 261, 262]), "a");
  const bare = createTokenizer({
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": ["▁", "a"],
  });
  assertEquals(bare.encode("a"), [0, 1]);
});

Deno.test("createTokenizer() refuses lists that are too short or of the wrong type", () => {
  const good = sentencePiece([]);
  const short = { ...good, "tokenizer.ggml.scores": new Float32Array(3) };
  assertThrows(() => createTokenizer(short), TokenizerError, "3 values for 259 tokens");
  const wrong = { ...good, "tokenizer.ggml.tokens": 7 };
  assertThrows(() => createTokenizer(wrong), TokenizerError, "not an array of strings");
});

Deno.test("createTokenizer() names the model that it does not support, and those that it does", () => {
  for (const model of ["rwkv", "plamo2", "hybriddna"]) {
    const message = `its model "${model}" is not one of llama, gpt2, gemma4, bert, t5, none`;
    assertThrows(() => createTokenizer(vocabulary(model, [["a"]])), TokenizerError, message);
  }
});

Deno.test("createTokenizer() refuses a vocabulary of text without tokens", () => {
  for (const model of ["llama", "gpt2", "bert", "t5"]) {
    const metadata = { "tokenizer.ggml.model": model, "tokenizer.ggml.merges": [] };
    assertThrows(() => createTokenizer(metadata), TokenizerError, 'tokens" is missing');
  }
});

Deno.test("createTokenizer() warns of a pre-tokenizer that it has to guess", () => {
  const pre = (name: string) => createTokenizer(bytePairs([], [], { "tokenizer.ggml.pre": name }));
  assertEquals(pre("qwen2").warnings, []);
  assertEquals(pre("from-the-future").warnings.length, 1);
  assertStringIncludes(pre("from-the-future").warnings[0]!, '"from-the-future"');
  assertEquals(pre("from-the-future").encode("a b").length, 3);
});

Deno.test("a vocabulary without text counts its tokens and refuses to encode and decode", () => {
  for (const model of ["test", "none", "no_vocab"]) {
    const tokenizer = createTokenizer(vocabulary(model, [["tok_0"], ["tok_1"]]));
    assertEquals([tokenizer.vocabularySize, tokenizer.hasText], [2, false]);
    assertThrows(() => tokenizer.encode("a"), TokenizerError, `"${model}" has no text`);
    assertThrows(() => tokenizer.decode([0]), TokenizerError, "Cannot decode");
  }
  const none = createTokenizer({ "general.architecture": "llama", "llama.vocab_size": 64 });
  assertEquals(none.vocabularySize, 64);
  assertThrows(() => none.encode("a"), TokenizerError, "the file has none");
});

Deno.test("decode() refuses ids that are no token", () => {
  const tokenizer = createTokenizer(bytePairs([]));
  for (const id of [256, -1, 0.5, NaN]) {
    assertThrows(() => tokenizer.decode([id]), TokenizerError, "the vocabulary has 256");
  }
});

Deno.test("encode() of 10000 special tokens takes less than 3 s", () => {
  const tokenizer = createTokenizer(bytePairs([], specials));
  const start = threadTime();
  assertEquals(tokenizer.encode("<a>  ".repeat(10_000)).length, 20_000);
  assert(threadTime() - start < 3000);
});

Deno.test("whoever polls ends the encoding of a long text, and the next one is as ever", () => {
  const merges = ["a b", "ab ab", "abab abab"];
  const metadata = bytePairs(merges, []);
  let left = Infinity;
  const tokenizer = createTokenizer(metadata, () => {
    if (--left < 0) throw new Error("called off");
  });
  const plain = createTokenizer(metadata);
  // One word, in whose joins the poll comes; and many.
  for (const text of ["ab".repeat(50_000), "ab ".repeat(50_000)]) {
    left = 5;
    assertThrows(() => tokenizer.encode(text), Error, "called off");
    left = Infinity;
    assertEquals(tokenizer.encode("abab ababab"), plain.encode("abab ababab"));
  }
});
