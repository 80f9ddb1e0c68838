// How each family cuts the same text. Without merges nothing shows the cuts, so that this test looks
// behind mod.ts.

import { assertEquals } from "@std/assert";
import { pretokenizerOf, splitWords } from "../../tokenizer/pretokenize.ts";

const text = "I'M 12345 don't  x\n\n Ünï!";

const expected: Readonly<Record<string, string>> = {
  "gpt-2": "I|'|M| 12345| don|'t| | x|\n\n| Ünï|!",
  "starcoder": "I|'|M| |1|2|3|4|5| don|'t| | x|\n\n| Ünï|!",
  "llama-bpe": "I|'M| |123|45| don|'t| | x|\n\n| Ünï|!",
  "qwen2": "I|'M| |1|2|3|4|5| don|'t| | x|\n\n| Ünï|!",
  "gpt-4o": "I'M| |123|45| don't| | x|\n\n| Ünï|!",
  "tekken": "I|'M| |1|2|3|4|5| don|'t| | x|\n\n| Ünï|!",
  "falcon": "I|'|M| |123|45| don|'|t| | x|\n\n| Ünï|!",
  // Its punctuation spans the ASCII letters, so that the "n" is cut out of " Ünï".
  "deepseek-llm": "I|'|M| |12345| don|'|t| | x|\n|\n| Ü|n|ï|!",
  "deepseek-v3": "I|'M| |123|45| don|'t| | x|\n\n| Ünï|!",
  "kimi-k2": "I'M| |123|45| don't| | x|\n\n| Ünï|!",
};

for (const [name, words] of Object.entries(expected)) {
  Deno.test(`splitWords() cuts as ${name} does`, () => {
    assertEquals(splitWords(text, pretokenizerOf(name)).join("|"), words);
  });
}

Deno.test("pretokenizerOf() gives names that are missing or unknown the general rule", () => {
  const general = pretokenizerOf("default");
  assertEquals(pretokenizerOf(undefined), general);
  assertEquals(pretokenizerOf("no-such-rule"), general);
  assertEquals(splitWords("a!b 1234", general).join("|"), "a|!|b| |123|4");
});

Deno.test("splitWords() takes U+0085 for white space and U+FEFF for a symbol", () => {
  const gpt2 = pretokenizerOf("gpt-2");
  assertEquals(splitWords("a\u0085b\ufeff", gpt2), ["a", "\u0085", "b", "\ufeff"]);
});
