// Which keys a model may begin: those that a schema declares or allows, where it declares some; all where
// documents are checked or open objects are asked for. Whatever is left out, an answer is possible.

import { assert, assertEquals } from "@std/assert";
import { compileGrammar, type CompileOptions, compileSchema } from "../../../engine/grammar/mod.ts";
import { json } from "../../../engine/grammar/grammar.ts";
import { judgeOf } from "./fuzz/judge.ts";
import { bytePairVocabulary } from "./fuzz/vocabularies.ts";

const { tokenizer } = bytePairVocabulary();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const text = { type: "string" };
const whole = { type: "integer" };
const a = { type: "object", properties: { a: whole } };

/** A schema; documents that are taken and those that only an open object is, each valid. */
type Case = readonly [
  name: string,
  schema: object,
  taken: readonly unknown[],
  open: readonly unknown[],
];

const CASES: readonly Case[] = [
  ["declared keys are all there are", a, [{}, { a: 1 }], [{ b: 1 }, { a: 1, b: 2 }]],
  ["so they are where none is declared", { ...a, properties: {} }, [{}], [{ b: 1 }]],
  ["an object of no declaration is open", { type: "object" }, [{ b: 1 }, { a: { c: 2 } }], []],
  ["so is what is any value", { properties: { a: {} } }, [{ a: { b: 1 } }, { a: 3 }], [{ b: 1 }]],
  ["any others are allowed where it says so", { ...a, additionalProperties: true }, [{ b: 1 }], []],
  ["and those of a schema", { ...a, additionalProperties: text }, [{ b: "" }], []],
  ["and those that are unevaluated", { ...a, unevaluatedProperties: text }, [{ b: "" }], []],
  ["any of them, too", { ...a, unevaluatedProperties: true }, [{ b: 1 }], []],
  ["and what names are said of", { ...a, propertyNames: { maxLength: 1 } }, [{ b: 1 }], []],
  [
    "patterns declare keys",
    { ...a, patternProperties: { "^x": text } },
    [{ a: 1, x1: "" }],
    [{ b: 1 }],
  ],
  ["so they do alone", { patternProperties: { "^x": text } }, [{ x1: "" }], [{ b: 1 }]],
  ["a required key need not be declared", { ...a, required: ["z"] }, [{ z: 1 }], [{ z: 1, y: 1 }]],
  [
    "nor one that a declared key needs",
    { ...a, dependentRequired: { a: ["c"] } },
    [{ a: 1, c: 1 }, {}],
    [{ b: 1 }],
  ],
  [
    "what a key brings along is declared with it",
    { ...a, dependentSchemas: { a: { properties: { d: whole }, required: ["d"] } } },
    [{ a: 1, d: 1 }, {}],
    [{ d: 1 }, { a: 1, d: 1, e: 1 }],
  ],
  [
    "parts of an allOf declare together",
    { allOf: [a, { properties: { b: whole }, required: ["b"] }] },
    [{ a: 1, b: 1 }],
    [{ b: 1, c: 1 }],
  ],
  ["one of them may open", { allOf: [a, { additionalProperties: true }] }, [{ b: 1 }], []],
  [
    "a reference beside properties declares too",
    { $ref: "#/$defs/b", properties: { a: whole }, $defs: { b: { properties: { b: whole } } } },
    [{ a: 1, b: 1 }],
    [{ c: 1 }],
  ],
  [
    "branches of an anyOf have their own keys",
    { anyOf: [a, { type: "object", properties: { a: whole, b: text }, required: ["b"] }] },
    [{ a: 1 }, { a: 1, b: "" }],
    [{ a: 1, b: 5 }, { a: 1, c: 1 }],
  ],
  [
    "so have those of a oneOf, which rule each other out",
    {
      oneOf: [{ ...a, required: ["a"] }, {
        type: "object",
        properties: { b: text },
        required: ["b"],
      }],
    },
    [{ a: 1 }, { b: "" }],
    [{ a: 1, b: 5 }, { b: "", a: "" }],
  ],
  [
    "a condition declares what its branch says",
    {
      type: "object",
      properties: { kind: { enum: ["x", "y"] } },
      required: ["kind"],
      if: { properties: { kind: { const: "x" } } },
      then: { properties: { p: whole }, required: ["p"] },
      else: { properties: { q: whole } },
    },
    [{ kind: "x", p: 1 }, { kind: "y", q: 1 }, { kind: "y" }],
    [{ kind: "y", p: 1 }, { kind: "x", p: 1, q: 1 }],
  ],
  ["to forbid a key declares none", { ...a, not: { required: ["b"] } }, [{ a: 1 }], [{ c: 1 }]],
  [
    "what must not be so may need a key",
    { ...a, not: { properties: { b: text } } },
    [{ b: 1 }],
    [],
  ],
  ["a least number above the declared opens", { ...a, minProperties: 2 }, [{ a: 1, b: 1 }], []],
  [
    "within others, too",
    {
      type: "object",
      properties: { in: { ...a, minProperties: 2 }, out: whole },
      required: ["in"],
    },
    [{ in: { a: 1, b: 1 }, out: 1 }],
    [{ in: { a: 1, b: 1 }, more: 1 }],
  ],
  [
    "enough different items open",
    {
      type: "array",
      items: { type: "object", properties: { a: { type: "boolean" } } },
      uniqueItems: true,
      minItems: 4,
    },
    [[{}, { a: true }, { a: false }, { b: 1 }]],
    [],
  ],
  [
    "a chain of references is closed link by link",
    {
      $ref: "#/$defs/link",
      $defs: { link: { properties: { next: { $ref: "#/$defs/link" } }, type: "object" } },
    },
    [{ next: { next: {} } }],
    [{ next: { next: { a: 1 } } }],
  ],
];

/** Whether a document is taken to its end. */
function takes(schema: object, document: unknown, options: CompileOptions): boolean {
  const matcher = compileSchema(schema, tokenizer, options).matcher();
  const bytes = encoder.encode(JSON.stringify(document));
  return bytes.every((byte) => matcher.accept(byte)) && matcher.isComplete;
}

for (const [name, schema, taken, open] of CASES) {
  Deno.test(`of the keys that may be begun: ${name}`, () => {
    const judge = judgeOf(schema);
    for (const document of [...taken, ...open]) {
      const about = JSON.stringify(document);
      assertEquals(judge?.(document), undefined, about);
      assertEquals(takes(schema, document, {}), taken.includes(document), about);
      const checks = [{ openObjects: true }, { anyOrder: true }, { anyNumbers: true }];
      for (const options of checks) assert(takes(schema, document, options), about);
      assertEquals(
        takes(schema, document, { anyOrder: true, openObjects: false }),
        taken.includes(document),
      );
    }
    const shortest = compileSchema(schema, tokenizer).matcher().completion();
    assertEquals(judge?.(JSON.parse(decoder.decode(shortest))), undefined);
  });
}

Deno.test("documents in a grammar begin the same keys", () => {
  for (const openObjects of [false, true]) {
    const compiled = compileGrammar({ root: json(a) }, tokenizer, { openObjects });
    const matcher = compiled.matcher();
    assertEquals([...encoder.encode('{"b')].every((byte) => matcher.accept(byte)), openObjects);
  }
});
