// The tokens that complete documents: as few as a search through all tokens finds, and always enough.

import { assert, assertEquals } from "@std/assert";
import { compileGrammar, compileSchema, type Matcher } from "../../../../engine/grammar/mod.ts";
import { randomNumbers, smallTokenizer, tokensOf } from "../small_tokenizer.ts";

const tokenizer = smallTokenizer([
  '{"',
  '":',
  '":"',
  '","',
  '"}',
  '"]',
  '},{"',
  "]}",
  "null",
  "name",
  "age",
  "tags",
  "red",
  "green",
  "aaaa",
  "    ",
  "        ",
  "10",
  "100",
  "get_weather",
  "arguments",
  '{"name":"',
], ["<call>", "</call>"]);

const text = { type: "string" };
const object = (properties: object, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** Schemas, with the fewest tokens of a document. */
const SCHEMAS: readonly (readonly [schema: unknown, least: number])[] = [
  [{ type: "null" }, 1],
  // The token ":" with its quotes is a document.
  [text, 1],
  [{ enum: ["red", "green"] }, 3],
  [{ ...text, minLength: 11 }, 3],
  [{ ...text, minLength: 50 }, 7],
  [{ ...text, pattern: "^a{8}$" }, 4],
  [{ type: "integer", minimum: 100 }, 1],
  [{ type: "integer", minimum: 1000, maximum: 1009 }, 2],
  [object({ name: text }), 2],
  [object({ name: text, age: { type: "integer" } }), 6],
  [object({ tags: { type: "array", items: { enum: ["red"] }, minItems: 2 } }), 10],
  [object({ age: { anyOf: [{ type: "null" }, object({ name: text })] } }), 5],
  [object({ name: text, age: text }, []), 2],
  [{ type: "array", items: object({ name: text }), minItems: 3 }, 10],
  [{ type: "array", items: { type: "integer" }, minItems: 3, uniqueItems: true }, 7],
  [{ type: "object", additionalProperties: { type: "integer" }, minProperties: 2 }, 9],
];

/** The fewest tokens that complete a document, by breadth over all tokens. */
function search(begin: () => Matcher, most: number): number {
  let places = new Map<string, number[]>([["", []]]);
  for (let count = 0; count <= most; count++) {
    const next = new Map<string, number[]>();
    for (const tokens of places.values()) {
      const matcher = begin();
      for (const token of tokens) matcher.accept(token);
      if (matcher.isComplete) return count;
      for (const token of tokensOf(matcher.mask())) {
        const after = matcher.fork();
        assert(after.accept(token));
        // What it takes in bytes tells which ways can be better than the one that is known.
        const rest = after.completion()!.length;
        if (count + 1 + Math.ceil(rest / 9) > most) continue;
        const text = [...tokens, token];
        next.set(text.flatMap((one) => [...tokenizer.tokenBytes(one)]).join(), text);
      }
    }
    places = next;
  }
  return Infinity;
}

for (const [schema, least] of SCHEMAS) {
  Deno.test(`a document of ${JSON.stringify(schema)} takes ${least} tokens at least`, () => {
    const compiled = compileSchema(schema, tokenizer);
    assertEquals(compiled.matcher().missing(), least);
    if (least <= 4) assertEquals(search(() => compiled.matcher(), least), least);
  });

  Deno.test(`every document of ${JSON.stringify(schema)} is complete after so many tokens`, () => {
    const random = randomNumbers(3);
    for (let document = 0; document < 30; document++) {
      const matcher = compileSchema(schema, tokenizer).matcher();
      const limit = least + document % 5;
      for (let remaining = limit; remaining > 0 && !matcher.isEnded; remaining--) {
        const tokens = tokensOf(matcher.mask({ remaining }));
        assert(matcher.accept(tokens[Math.floor(random() * tokens.length)]!));
      }
      assert(matcher.isComplete, `within ${limit} tokens`);
    }
  });
}

Deno.test("a control token of a grammar is one token", () => {
  const compiled = compileGrammar('root ::= <call> "get_weather" </call>', tokenizer);
  assertEquals(compiled.matcher().missing(), 3);
});

Deno.test("what no tokens of the vocabulary spell has no end", () => {
  const letters = smallTokenizer([], []);
  const without = { ...letters, tokenBytes: (token: number) => Uint8Array.of(token & 0x7f) };
  // There is no token for letters beyond ASCII.
  const matcher = compileSchema({ const: "é" }, without as typeof letters).matcher();
  assertEquals(matcher.missing(), Infinity);
});

Deno.test("an end that is too long to be spelled out takes a token for each byte", () => {
  const matcher = compileSchema({ ...text, minLength: 1e6 }, tokenizer).matcher();
  assertEquals(matcher.missing(), Infinity);
  assertEquals([1e6 + 1, 1e6 + 2].map((tokens) => matcher.mayEndWithin(tokens)), [false, true]);
});
