// Streams of tokens that split characters.

import { assertEquals } from "@std/assert";
import { createTokenizer } from "../../tokenizer/mod.ts";
import { bytePairs, kind, sentencePiece } from "./vocabularies.ts";

const bytes = createTokenizer(bytePairs([], [["<|im_end|>", kind.control]]));

Deno.test("push() holds an emoji back until its last byte", () => {
  const decoder = bytes.streamDecoder();
  const family = "👩‍👧";
  const texts = [...new TextEncoder().encode(family)].map((byte) => decoder.push(byte));
  assertEquals(texts, ["", "", "", "👩", "", "", "\u200d", "", "", "", "👧"]);
  assertEquals(decoder.flush(), "");
});

Deno.test("flush() gives U+FFFD for what never became whole, and starts anew", () => {
  const decoder = bytes.streamDecoder();
  assertEquals(decoder.push(0xf0) + decoder.push(0x9f), "");
  assertEquals(decoder.flush(), "\ufffd");
  assertEquals(decoder.push(97), "a");
});

Deno.test("push() gives U+FFFD for a byte that cannot go on, and keeps what follows", () => {
  const decoder = bytes.streamDecoder();
  assertEquals(decoder.push(0xe4) + decoder.push(97), "\ufffda");
});

Deno.test("push() keeps a byte order mark", () => {
  const decoder = bytes.streamDecoder();
  assertEquals([0xef, 0xbb, 0xbf].map((byte) => decoder.push(byte)).join(""), "\ufeff");
});

Deno.test("push() gives no text for control tokens unless they are asked for", () => {
  assertEquals(bytes.streamDecoder().push(256), "");
  assertEquals(bytes.streamDecoder({ special: true }).push(256), "<|im_end|>");
});

Deno.test("push() keeps the first space of a continuation, and drops that of a text", () => {
  const words = createTokenizer(sentencePiece([["▁a"]]));
  assertEquals(words.streamDecoder().push(259), " a");
  const start = words.streamDecoder({ textStart: true });
  assertEquals([1, 259, 259].map((token) => start.push(token)), ["", "a", " a"]);
});
