// Grammars at random against a judge that looks at whole texts: which texts they allow, which
// beginnings, what their masks hold and whether what is written under a budget ends.

import { assert, assertEquals } from "@std/assert";
import {
  type CompiledSchema,
  compileGrammar,
  type Grammar,
  GrammarError,
  type GrammarRules,
} from "../../../engine/grammar/mod.ts";
import { recognizes } from "./recognizer.ts";
import { fateOf, randomNumbers, smallTokenizer, tokensOf, tryTokens } from "./small_tokenizer.ts";

const ALPHABET = ["a", "b", "é"];
const tokenizer = smallTokenizer(["aa", "ab", "ba", "aab", "bé", "éa", "abab"], ["<think>"]);

/** Every text of the alphabet of at most so many characters. */
function textsUpTo(length: number): string[] {
  const texts = [""];
  for (let layer = [""]; layer[0]!.length < length;) {
    layer = layer.flatMap((text) => ALPHABET.map((character) => text + character));
    texts.push(...layer);
  }
  return texts;
}

const TEXTS = textsUpTo(4);

function randomGrammar(random: () => number): GrammarRules {
  const below = (count: number) => Math.floor(random() * count);
  const names = ["one", "two", "three"];
  const node = (depth: number): Grammar => {
    const kind = below(depth > 3 ? 5 : 9);
    switch (kind) {
      case 0:
        return { type: "literal", text: TEXTS[below(13)]! };
      case 1:
        return { type: "characters", ranges: [[0x61, 0x61 + below(2)]], negated: below(3) === 0 };
      case 2:
        return { type: "rule", name: names[below(3)]! };
      case 3:
        return below(2) === 0
          ? { type: "text", without: [TEXTS[1 + below(12)]!] }
          : { type: "pattern", source: ["^a*$", "b", "^(?=a).?b?", "^a|é$"][below(4)]! };
      case 4:
        return { type: "rule", name: names[below(3)]! };
      case 5:
        return { type: "choice", options: [node(depth + 1), node(depth + 1)] };
      case 6: {
        const min = below(3);
        const max = below(3) === 0 ? Infinity : min + below(3);
        return { type: "repeat", part: node(depth + 1), min, max };
      }
      default:
        return {
          type: "sequence",
          parts: Array.from({ length: 1 + below(3) }, () => node(depth + 1)),
        };
    }
  };
  return { root: node(0), rules: new Map(names.map((name) => [name, node(1)])) };
}

/** Grammars that can be enforced, and how many of those tried cannot. */
function* enforceable(seed: number, count: number) {
  const random = randomNumbers(seed);
  for (let found = 0, tried = 0; found < count; tried++) {
    assert(tried < 20 * count, "nearly all grammars are refused");
    const grammar = randomGrammar(random);
    let compiled: CompiledSchema;
    try {
      compiled = compileGrammar(grammar, tokenizer);
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error;
      continue;
    }
    found++;
    yield { grammar, compiled, random };
  }
}

Deno.test("compileGrammar() allows the texts that a judge of whole texts does", () => {
  for (const { grammar, compiled } of enforceable(1, 300)) {
    const shown = JSON.stringify([grammar.root, ...grammar.rules!]);
    const allowed = TEXTS.filter((text) => recognizes(grammar, text));
    for (const text of TEXTS) {
      const fate = fateOf(compiled, tokenizer, text);
      assertEquals(fate === "complete", allowed.includes(text), `"${text}" of ${shown}`);
      if (fate === "refused") {
        assert(!allowed.some((one) => one.startsWith(text)), `"${text}" of ${shown}`);
      }
    }
  }
});

Deno.test("completion() of a grammar ends every beginning as the judge allows", () => {
  for (const { grammar, compiled } of enforceable(2, 150)) {
    for (const text of TEXTS.slice(0, 40)) {
      const matcher = compiled.matcher();
      if (!tokenizer.encode(text).every((token) => matcher.accept(token))) continue;
      const whole = text + new TextDecoder().decode(matcher.completion());
      assert(recognizes(grammar, whole), `"${whole}" of ${JSON.stringify(grammar.root)}`);
    }
  }
});

Deno.test("mask() of a grammar equals a trial of every token", () => {
  for (const { compiled, random } of enforceable(3, 60)) {
    const matcher = compiled.matcher();
    const before: number[] = [];
    for (let step = 0; step < 6; step++) {
      const expected = tryTokens(compiled, tokenizer, before);
      assertEquals(tokensOf(matcher.mask()), expected);
      assert(expected.length > 0, "a mask is empty");
      const long = expected.filter((token) => token >= 256);
      const choice = long.length > 0 && random() < 0.7 ? long : expected;
      const token = choice[Math.floor(random() * choice.length)]!;
      assert(matcher.accept(token));
      if (matcher.isEnded) break;
      before.push(token);
    }
  }
});

Deno.test("mask() of a grammar with a budget leads to an end in time", () => {
  for (const { grammar, compiled, random } of enforceable(4, 100)) {
    const matcher = compiled.matcher();
    const bytes: number[] = [];
    for (let remaining = 60; remaining > 0 && !matcher.isEnded; remaining--) {
      const tokens = tokensOf(matcher.mask({ remaining }));
      const token = tokens[Math.floor(random() * tokens.length)]!;
      assert(matcher.accept(token));
      if (!matcher.isEnded) bytes.push(...tokenizer.tokenBytes(token));
    }
    assert(matcher.isComplete, "the budget is spent");
    const text = new TextDecoder().decode(Uint8Array.from(bytes));
    assert(recognizes(grammar, text), text);
  }
});
