// How each family cuts the same text. Without merges nothing shows the cuts, so that this test looks
// behind mod.ts.

import { assert, assertEquals } from "@std/assert";
import {
  forEachWord,
  type Pretokenizer,
  pretokenizerOf,
} from "../../tokenizer/algorithms/bpe/pretokenizers.ts";
import { randomText, seeded } from "./random_texts.ts";
import { threadTime } from "../cpu_time.ts";
import { share } from "../share.ts";

function splitWords(text: string, pretokenizer: Pretokenizer | undefined): string[] {
  const words: string[] = [];
  forEachWord(text, pretokenizer!, (part, start, end) => words.push(part.slice(start, end)));
  return words;
}

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
  Deno.test(`forEachWord() cuts as ${name} does`, () => {
    assertEquals(splitWords(text, pretokenizerOf(name)).join("|"), words);
  });
}

/** Texts that tell the rules apart which are alike on the text above. */
const details: readonly (readonly [name: string, text: string, words: string])[] = [
  ["default", "a!b 1234", "a|!|b| |123|4"],
  [
    "chameleon",
    "a<sentinel:12>IMGIMGABZ12.. b    c",
    "a|<|sentinel|:|1|2|>|IMGIMGABZ|1|2|.|.| b|    |c",
  ],
  ["laguna", "a  \n  b1", "a|  |\n| | b|1"],
  ["ufakzeka", "I'm 12", "I|'m| |1|2"],
  ["bailingmoe", "a\n\n b", "a|\n\n| b"],
  ["seed-coder", "a!\nb", "a|!|\n|b"],
  ["qwen2", "a!\nb", "a|!\n|b"],
  ["qwen35", "e\u0301a", "e\u0301a"],
  ["qwen2", "e\u0301a", "e|\u0301a"],
  ["exaone-moe", "ab cd. ef\n\n1", "ab cd|.| ef|\n\n|1"],
  ["minicpm5", "a1234b", "a|123|4|b"],
  ["jais-2", "a       b", "a|    |  | b"],
  ["granite-embed-multi-97m", "Ae\u0301A AbC", "Ae\u0301|A| Ab|C"],
  ["gpt-4o", "Ae\u0301A AbC", "Ae|\u0301A| Ab|C"],
  ["tiny_aya", "AbC 1234567 it's", "AbC| |1|234|567| it's"],
  ["youtu", "가a「，」中ab 12", "가|a|「，」|中|ab| |1|2"],
  ["superbpe", "to be 1234567!", "to be |1|234|567|!"],
  ["spark2_5", "a!\n\n12", "a|!|\n|\n|1|2"],
  ["deepseek-v3", "a!\n\n12", "a|!\n\n|12"],
  ["afmoe", "a12345  678ก中b", "a|12|345| | |678|ก|中|b"],
  ["gemma4", "a b\n\nc", "a b|\n\n|c"],
  ["whitespace", "a  bc", "a|  |bc"],
];

for (const [name, text, words] of details) {
  Deno.test(`forEachWord() cuts ${JSON.stringify(text)} as ${name} does`, () => {
    assertEquals(splitWords(text, pretokenizerOf(name)).join("|"), words);
  });
}

const names =
  "default gpt-2 starcoder falcon chameleon bloom viking qwen2 laguna qwen35 ufakzeka " +
  "bailingmoe seed-coder exaone-moe dbrx llama3 minicpm5 jais-2 gpt-4o granite-embed-multi-97m " +
  "tekken tiny_aya youtu superbpe deepseek-llm deepseek-coder deepseek-v3 spark2_5 afmoe kimi-k2 " +
  "gemma4 sarvam-moe whitespace";

Deno.test("forEachWord() leaves nothing out, whatever the rule and the text", () => {
  const random = seeded(5);
  for (const name of names.split(" ")) {
    const rule = pretokenizerOf(name);
    for (let count = 0; count < 100; count++) {
      const text = randomText(random, 60);
      const words = splitWords(text, rule);
      assertEquals(words.join(""), text, name);
      assert(words.every((word) => word !== ""), name);
    }
  }
});

Deno.test("forEachWord() of 40000 characters takes less than 1 s, whatever the rule", () => {
  const runs = [" ", "\n", "a", "A", "1", "!", "中", "\u0301", "'", " a", "1a", "<sentinel:"];
  for (const [index, name] of names.split(" ").entries()) {
    const rule = pretokenizerOf(name);
    for (const [at, run] of runs.entries()) {
      for (const [last, end] of ["", "中", "a", "!"].entries()) {
        // Every day a third, which has each pair of two of the three.
        if ((index + at + last) % share(3, 1) > 0) continue;
        const text = run.repeat(40_000 / run.length) + end;
        const start = threadTime();
        splitWords(text, rule);
        const what = `${name}: ${JSON.stringify(run)} and ${JSON.stringify(end)}`;
        assert(threadTime() - start < 1000, what);
      }
    }
  }
});

Deno.test("pretokenizerOf() takes a missing name for the general rule, and knows no others", () => {
  assertEquals(splitWords("a!b 1234", pretokenizerOf(undefined)).join("|"), "a|!|b| |123|4");
  assertEquals(pretokenizerOf("no-such-rule"), undefined);
});

Deno.test("forEachWord() takes U+0085 for white space and U+FEFF for a symbol", () => {
  const gpt2 = pretokenizerOf("gpt-2");
  assertEquals(splitWords("a\u0085b\ufeff", gpt2), ["a", "\u0085", "b", "\ufeff"]);
});
