// Which JSON types a value may have: those that a schema mentions, by `type` or by what it says else, where it
// mentions some; all that JSON Schema allows where open objects are asked for, or given documents checked.

import { assert, assertEquals } from "@std/assert";
import { type CompileOptions, compileSchema } from "../../../engine/grammar/mod.ts";
import { judgeOf } from "./fuzz/judge.ts";
import { bytePairVocabulary } from "./fuzz/vocabularies.ts";

const { tokenizer } = bytePairVocabulary();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const whole = { type: "integer" };
const a = { properties: { a: whole } };
const needsA = { required: ["a"] };
const needsB = { required: ["b"] };

/** A schema; documents that are taken, and those of types that it does not mention, each valid. */
type Case = readonly [
  name: string,
  schema: object,
  taken: readonly unknown[],
  unmentioned: readonly unknown[],
];

const CASES: readonly Case[] = [
  ["properties mean an object", a, [{}, { a: 1 }], [1, "a", null, true, [1]]],
  ["so does what is required", needsA, [{ a: 1 }, { a: [] }], ["a", []]],
  ["and what others are", { additionalProperties: whole }, [{}, { b: 1 }], ["a", [], null]],
  ["and patterns of keys", { patternProperties: { "^x": whole } }, [{ x: 1 }], [false]],
  [
    "and names, counts and conditions of them",
    {
      allOf: [{ propertyNames: { maxLength: 2 } }, { maxProperties: 1 }, {
        dependentRequired: { a: ["b"] },
      }],
    },
    [{ b: 2 }],
    ["b"],
  ],
  ["items mean an array", { items: whole }, [[], [1, 2]], [1, {}, null]],
  ["so do the first of them", { prefixItems: [whole] }, [[1, "x"]], [{}]],
  ["and how many they are", { minItems: 1 }, [[1]], ["a", {}]],
  ["and that they differ", { uniqueItems: true }, [[1]], ["a"]],
  ["and what they contain", { contains: whole }, [[1]], ["a", 1]],
  ["a pattern means a string", { pattern: "^a+$" }, ["a"], [1, null, ["b"]]],
  ["so does a length", { maxLength: 1 }, ["a"], [12]],
  ["and a format of strings", { format: "date" }, ["2020-02-29"], [5, {}]],
  ["bounds mean a number", { minimum: 5 }, [5, 6.5], ["a", null]],
  ["so does a divisor", { multipleOf: 5 }, [5], ["a"]],
  ["and a format of numbers", { format: "int32" }, [5], ["a", {}]],
  ["a format of nobody means nothing", { format: "stardate" }, ["a", 1, null, {}], []],
  ["no word means any value", { description: "?" }, ["a", 1, null, {}, [{}]], []],
  ["words about two types mean both", { minimum: 5, minLength: 1 }, [5, "a"], [null, []]],
  ["what is within means its own", { items: { items: a } }, [[], [[]], [[{}]]], [[1], [[1]], {}]],
  ["a type that is named is meant", { ...a, type: ["object", "null"] }, [{}, null], []],
  ["so is one that is named beside", { type: ["string", "null"], allOf: [{ maxLength: 3 }] }, [
    "a",
    null,
  ], []],
  ["and values that are listed", { enum: ["a", null, 3], maxLength: 3 }, ["a", null, 3], []],
  ["and another alternative", { ...a, anyOf: [needsA, { type: "null" }] }, [{ a: 1 }, null], [1]],
  ["alternatives mean their own", { anyOf: [a, { items: whole }] }, [{}, [1]], ["a", null]],
  ["one of two means objects", { oneOf: [needsA, needsB] }, [{ a: 1 }, { b: 1 }], []],
  [
    "a reference means its target",
    {
      properties: { next: { $ref: "#/$defs/a" } },
      $defs: { a },
    },
    [{ next: { a: 1 } }],
    ["x", { next: 1 }],
  ],
  [
    "branches of a condition mean objects",
    {
      if: { properties: { a: { const: 1 } } },
      then: needsB,
      else: needsA,
    },
    [{ a: 1, b: 2 }, { b: 1 }, { a: 2 }],
    ["a", 3],
  ],
  ["what must not be means nothing", { not: needsA }, [{ b: 1 }, {}], []],
  ["nor does it forbid what is meant", { ...a, not: { type: "string" } }, [{ a: 1 }], [1, []]],
  // Where nothing mentioned fits, what fits is taken.
  ["the rest has the last word", { allOf: [{ minLength: 1 }, { not: { type: "string" } }] }, [
    1,
    null,
    {},
  ], []],
  [
    "so it has about values without an end",
    {
      properties: { next: { $ref: "#" } },
      required: ["next"],
    },
    [{ next: 1 }, 1],
    [],
  ],
];

/** Whether a document is taken to its end. */
function takes(schema: object, document: unknown, options: CompileOptions): boolean {
  const matcher = compileSchema(schema, tokenizer, options).matcher();
  const bytes = encoder.encode(JSON.stringify(document));
  return bytes.every((byte) => matcher.accept(byte)) && matcher.isComplete;
}

for (const [name, schema, taken, unmentioned] of CASES) {
  Deno.test(`of the types that a value may have: ${name}`, () => {
    const judge = judgeOf(schema);
    for (const document of [...taken, ...unmentioned]) {
      const about = JSON.stringify(document);
      assertEquals(judge?.(document), undefined, about);
      assertEquals(takes(schema, document, {}), taken.includes(document), about);
      for (const options of [{ openObjects: true }, { anyOrder: true }, { anyNumbers: true }]) {
        assert(takes(schema, document, options), about);
      }
    }
    const shortest = compileSchema(schema, tokenizer).matcher().completion();
    assertEquals(judge?.(JSON.parse(decoder.decode(shortest))), undefined);
  });
}
