// Schemas that ask for more than any answer can hold, and schemas of thousands of keys: each is compiled
// or refused by name, and no mask that leads to an end takes long. Seconds are generous, since tests run
// beside others; tests of machine/ends_test.ts count instead.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { compileGrammar, compileSchema, json, SchemaError } from "../../../engine/grammar/mod.ts";
import { Constraint } from "../../../engine/generate/constraint.ts";
import { JsonNumber } from "../../../tokenizer/mod.ts";
import { smallTokenizer } from "./small_tokenizer.ts";
import { threadTime } from "../../cpu_time.ts";
import { share } from "../../share.ts";

const tokenizer = smallTokenizer(["aa", "ab", '":', '{"', '",'], []);

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const properties = (count: number, schema: unknown) =>
  Object.fromEntries(list(count, (index) => [`key${index}`, schema]));

function leastOf(mask: Uint32Array): number {
  const word = mask.findIndex((bits) => bits !== 0);
  assert(word >= 0, "the mask is empty");
  return 32 * word + 31 - Math.clz32(mask[word]! & -mask[word]!);
}

/**
 * Writes the first tokens under the masks of a schema: the least of each mask. Returns whether the
 * document came to its end.
 */
function begin(schema: unknown, tokens: number): boolean {
  const constraint = new Constraint({ schema }, tokenizer, "document");
  for (let count = 0; count < tokens; count++) {
    let token = leastOf(constraint.mask());
    const other = constraint.instead(token, tokens - count);
    if (other) token = leastOf(other);
    assertEquals(constraint.failure, undefined);
    assert(constraint.accept(token));
    if (constraint.mustEnd) return true;
  }
  return false;
}

const TEXT = { type: "string" };
const OPTIONAL = { type: "object", additionalProperties: false };

const CASES: readonly (readonly [name: string, schema: unknown])[] = [
  ["10^9 characters", { type: "string", minLength: 1e9 }],
  ["10^9 characters in a key", { type: "object", properties: { a: { ...TEXT, minLength: 1e9 } } }],
  ["2^40 characters", { type: "string", minLength: 2 ** 40, maxLength: 2 ** 41 }],
  ["10^9 items", { type: "array", minItems: 1e9 }],
  ["2^33 different items", { type: "array", minItems: 2 ** 33, uniqueItems: true }],
  ["10^6 keys", { type: "object", minProperties: 1e6 }],
  ["10^9 keys of a pattern", {
    type: "object",
    patternProperties: { "^[a-z]+$": { type: "integer" } },
    additionalProperties: false,
    minProperties: 1e9,
  }],
  ["8,000 properties", { type: "object", properties: properties(8000, TEXT) }],
  ["8,000 required properties", {
    type: "object",
    properties: properties(8000, TEXT),
    required: list(8000, (index) => `key${index}`),
  }],
  ["4,000 of 8,000 properties", {
    type: "object",
    properties: properties(8000, TEXT),
    minProperties: 4000,
    additionalProperties: false,
  }],
  ["4,000 properties, some of which need others", {
    type: "object",
    properties: properties(4000, TEXT),
    anyOf: list(50, (index) => ({ required: [`key${index}`] })),
  }],
  ["2,000 objects within each other", {
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(list(2000, (index) => [
      `d${index}`,
      index === 1999
        ? { type: "null" }
        : { ...OPTIONAL, properties: { a: { $ref: `#/$defs/d${index + 1}` } }, required: ["a"] },
    ])),
  }],
];

for (const [name, schema] of CASES) {
  Deno.test(`masks lead towards an end of ${name} in good time`, () => {
    const started = threadTime();
    begin(schema, 40);
    const seconds = (threadTime() - started) / 1000;
    assert(seconds < 10, `${seconds} s for 40 tokens`);
  });
}

Deno.test("an answer ends in time where it can, and is cut where it cannot", () => {
  const schema = { type: "array", items: { type: "integer" }, minItems: 20 };
  assert(begin(schema, 60));
  const hopeless = new Constraint(
    { schema: { type: "string", minLength: 1e6 } },
    tokenizer,
    "document",
  );
  const token = leastOf(hopeless.mask());
  assertEquals([hopeless.instead(token, 10), hopeless.isShortened], [undefined, false]);
});

Deno.test("values that no schema may list are refused by a SchemaError, within grammars too", () => {
  const refused: readonly (readonly [schema: unknown, message: string])[] = [
    [{ const: Infinity }, "Infinity is no JSON"],
    ['{"const":1e4000}', "1e4000"],
    [{ enum: list(200_000, (index) => `v${index}`) }, "more than 160000 values"],
    [{ enum: list(120_000, (index) => index) }, '("enum"): it lists more than 100000 values'],
    [
      list(10_000, () => 0).reduce<unknown>((items) => ({ items }), {}),
      "nested more than 512 deep",
    ],
  ];
  for (const [schema, message] of refused) {
    const compile = [
      () => compileSchema(schema, tokenizer),
      () => compileGrammar({ root: json(schema) }, tokenizer),
      () => new Constraint({ schema }, tokenizer, "document"),
    ];
    for (const one of compile) assertThrows(one, SchemaError, message);
  }
});

Deno.test("formats that differ in numbers beyond JSON only are not taken for one another", () => {
  assert(begin({ const: null }, 8));
  assertThrows(
    () => new Constraint({ schema: { const: Infinity } }, tokenizer, "document"),
    SchemaError,
  );
});

Deno.test("formats that differ in the text of a number only are not taken for one another", () => {
  const number = new JsonNumber("1.50");
  const values = [number, structuredClone(number), "1.50", { number: "1.50" }, 1.5, 2n ** 64n];
  const expected = ["1.50", "1.50", '"1.50"', '{"number":"1.50"}', "1.5", `${2n ** 64n}`];
  for (const [index, value] of values.entries()) {
    const constraint = new Constraint({ schema: { const: value } }, tokenizer, "document");
    const taken = tokenizer.encode(expected[index]!).every((token) => constraint.accept(token));
    assert(taken && constraint.mustEnd, expected[index]);
  }
});

Deno.test("a schema of more schemas than compile in a few seconds is refused by their number", () => {
  const schema = { type: "object", properties: properties(share(70_000, 500_000), TEXT) };
  assertThrows(() => compileSchema(schema, tokenizer), SchemaError, "more than");
});
