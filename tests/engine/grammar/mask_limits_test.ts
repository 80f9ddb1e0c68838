// What holds however little work a mask may take: every token in it is accepted, it is never empty, and
// a document that follows masks never comes to a place without a way on.

import { assert, assertEquals } from "@std/assert";
import { compileGrammar, compileSchema, type Matcher } from "../../../engine/grammar/mod.ts";
import { loadTokenizer } from "../../../engine/mod.ts";
import { smallTokenizer, tokensOf } from "./small_tokenizer.ts";

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const text = (pattern: string, more: object = {}) => ({ type: "string", pattern, ...more });

const LETTERS = ["a", "b", "c", "x", "0", "-", " ", "é", '"'];
const tokenizer = smallTokenizer([
  ...new Set(
    list(
      1200,
      (index) =>
        list(
          2 + index % 9,
          (at) => LETTERS[(Math.imul(index + 7, 2654435761) >>> (3 * at + 1)) % LETTERS.length],
        ).join(""),
    ),
  ),
  '","',
  '":"',
  '{"',
  '"]',
], ["<call>"]);

const SCHEMAS: Readonly<Record<string, unknown>> = {
  "a distant past": text("a.{1000}b.{1000}c"),
  "a near past": text("^.*a.{20}$"),
  "counted texts of a near past": text("^.*a.{20}$", { minLength: 40, maxLength: 60 }),
  "a far past": text("^(a|b)*a(a|b){15}$"),
  "look-behinds at distances": text("((?<=a.{10})b|c(?<!a.{12}))*$"),
  "nested counts": text("^((a{1,30}b?){1,30}c?){1,30}$"),
  "30 nested counts": text(`^${list(30, () => 0).reduce((x) => `(?:${x}){1,9}`, "a")}$`),
  "look-aheads": text(`^${list(12, (i) => `(?=.*a.{${i + 1}}b)`).join("")}.*$`),
  "what is none of them": {
    allOf: list(6, (i) => ({ not: text(`${"abcx0-"[i]}.{${i + 3}}b`) })),
    type: "string",
  },
  "long names": { type: "string", format: "idn-hostname", minLength: 20 },
  "regular expressions": { type: "string", format: "regex" },
  "overlapping patterns of keys": {
    type: "object",
    patternProperties: Object.fromEntries(list(6, (i) => [`^.*${"abcx0-"[i]}.*b`, { minimum: i }])),
  },
  "unique texts": {
    type: "array",
    uniqueItems: true,
    minItems: 4,
    items: text("^(a|b|.{3}a.{9})*$"),
  },
  "any of many texts": {
    anyOf: list(5, (i) => text(`^.*${"abcx0"[i]}.{${7 + i}}$`, { minLength: 9 * i })),
  },
};

/** Steps of work for a mask. */
const BUDGETS = [1, 40, 700, 12_000];

/** Tokens of a document. */
const LENGTH = 14;

/** Follows random tokens of masks, and tries all others of each. */
function follow(make: () => Matcher, draw: (bound: number) => number, remaining: number): void {
  const document: number[] = [];
  let matcher = make();
  for (let count = 0; count < LENGTH && !matcher.isEnded; count++) {
    const tokens = tokensOf(matcher.mask({ remaining: remaining - count }));
    assert(tokens.length > 0, `nothing may come after ${document.length} tokens`);
    const tried = list(Math.min(tokens.length, 6), () => tokens[draw(tokens.length)]!);
    for (const token of tried) {
      const other = make();
      for (const before of document) assert(other.accept(before));
      assert(other.accept(token), `${tokenizer.piece(token)} is in the mask and is not accepted`);
    }
    matcher = make();
    document.push(tried[0]!);
    for (const token of document) assert(matcher.accept(token));
  }
}

function drawing(seed: number): (bound: number) => number {
  return (bound) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
}

for (const [name, schema] of Object.entries(SCHEMAS)) {
  Deno.test(`whatever a mask of ${name} may cost, its tokens are accepted`, () => {
    BUDGETS.forEach((maskWork, index) => {
      const compiled = compileSchema(schema, tokenizer, { maskWork });
      follow(() => compiled.matcher(), drawing(index + 1), Infinity);
      follow(() => compiled.matcher(), drawing(index + 9), 90);
    });
  });
}

Deno.test("what compiling has no work left for is not taken for impossible", () => {
  // To find a shortest end takes more than compiling may: each character leads to another state.
  const schema = {
    type: "string",
    format: "idn-hostname",
    minLength: 40,
    not: { pattern: "^.*[^x].c$" },
  };
  const matcher = compileSchema(schema, tokenizer).matcher();
  for (const token of tokenizer.encode('"bc.bx-acbbcaaabbb')) assert(matcher.accept(token));
  assert(tokensOf(matcher.mask()).length > 0);
});

Deno.test("a pattern of a grammar is never cut off for want of work", () => {
  const root = { type: "pattern", source: "^(a|b)*a(a|b){15}$" } as const;
  for (const maskWork of BUDGETS) {
    const compiled = compileGrammar({ root }, tokenizer, { maskWork });
    const draw = drawing(maskWork);
    const matcher = compiled.matcher();
    let written = "";
    for (let count = 0; count < 30 && !matcher.isEnded; count++) {
      const tokens = tokensOf(matcher.mask());
      assert(tokens.length > 0);
      const token = tokens[draw(tokens.length)]!;
      assert(matcher.accept(token));
      if (!matcher.isEnded) written += tokenizer.piece(token);
      assertEquals(matcher.isComplete, /^(a|b)*a(a|b){15}$/.test(written), written);
    }
  }
});

Deno.test("an answer that nothing is known of yet is led to its end among letters of all scripts", async () => {
  const box = new URL("../../../engine/box/quern-tiny.gguf", import.meta.url);
  const tokenizer = await loadTokenizer(box);
  const schema = { type: "string", pattern: "^\\p{L}+$", minLength: 2 };
  for (let seed = 1; seed <= 12; seed++) {
    const matcher = compileSchema(schema, tokenizer).matcher();
    let random = seed * 7919;
    for (let remaining = 4; remaining > 0 && !matcher.isEnded; remaining--) {
      const mask = matcher.mask({ remaining });
      const allowed = Array.from({ length: 32 * mask.length }, (_, id) => id)
        .filter((id) => mask[id >>> 5]! >>> (id & 31) & 1);
      random = Math.imul(random, 1103515245) + 12345 >>> 0;
      matcher.accept(allowed[random % allowed.length]!);
    }
    assert(matcher.isComplete, `of seed ${seed}`);
  }
});

Deno.test("a mask of a regular expression with a least length has all tokens that may come", async () => {
  const box = new URL("../../../engine/box/quern-tiny.gguf", import.meta.url);
  const tokenizer = await loadTokenizer(box);
  const schema = { type: "string", format: "regex", minLength: 1 };
  const masks = (options: { maskWork?: number }) => {
    const matcher = compileSchema(schema, tokenizer, options).matcher();
    return tokenizer.encode('"^(a|b)*[x-z]{2,3}$').map((token) => {
      const mask = matcher.mask().slice();
      assert(matcher.accept(token));
      return mask;
    });
  };
  assertEquals(masks({}), masks({ maskWork: 2_000_000 }));
});

Deno.test("where work is short, tokens of one byte come before those of many", () => {
  const schema = SCHEMAS["look-behinds at distances"];
  const [open] = tokenizer.encode('"');
  const first = (maskWork: number) => {
    const matcher = compileSchema(schema, tokenizer, { maskWork }).matcher();
    assert(matcher.accept(open!));
    return tokensOf(matcher.mask()).filter((token) => token < 256);
  };
  assertEquals(first(8_000), first(2_000_000));
});
