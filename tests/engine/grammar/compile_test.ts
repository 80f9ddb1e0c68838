// compileSchema() from a schema to the masks of a real vocabulary's shape: random documents under the
// mask parse and fit their schema, given documents pass, and what cannot be enforced says where.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Ajv } from "ajv";
import { compileSchema, SchemaError } from "../../../engine/grammar/mod.ts";
import { loadTokenizer } from "../../../engine/mod.ts";
import type { Tokenizer } from "../../../tokenizer/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

const path = await Deno.makeTempFile({ suffix: ".gguf" });
await writeTinyLlama(path);
const tokenizer = await loadTokenizer(path);
await Deno.remove(path);

const SCHEMAS = [
  {
    type: "object",
    properties: { name: { type: "string", maxLength: 9 }, age: { type: "integer" } },
  },
  { type: "array", items: { enum: [1, "two", null, [3], { four: 4 }] }, maxItems: 3, minItems: 1 },
  { anyOf: [{ const: "a" }, { type: "number", minimum: -2.5, maximum: 7 }], description: "either" },
  { type: "array", uniqueItems: true, items: { type: "integer", minimum: 0, maximum: 3 } },
  { type: "string", pattern: "^(?!\\.\\.?(?:\\/|$))[A-Za-z0-9_\\-.~:@+]{1,20}$" },
  {
    $defs: {
      tree: { type: "object", properties: { left: { $ref: "#/$defs/tree" } }, required: [] },
    },
    $ref: "#/$defs/tree",
  },
];

/** Uniform steps under the mask, by a small generator of its own; steered to the end at last. */
function randomDocument(schema: unknown, tokens: Tokenizer, seed: number): string {
  const matcher = compileSchema(schema, tokens).matcher();
  let state = seed * 2654435761 >>> 0;
  const ids: number[] = [];
  const budget = 400;
  while (!matcher.isEnded && ids.length < budget) {
    const mask = matcher.mask({ remaining: budget - ids.length });
    const allowed: number[] = [];
    for (let token = 0; token < tokens.vocabularySize; token++) {
      if (mask[token >> 5] >>> (token & 31) & 1) allowed.push(token);
    }
    assert(allowed.length > 0, "a mask is empty");
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const token = allowed[state % allowed.length];
    assert(matcher.accept(token), `token ${token} is in the mask and not accepted`);
    if (!matcher.isEnded) ids.push(token);
  }
  assert(matcher.isComplete, "no end in time");
  return tokens.decode(ids);
}

for (const [i, schema] of SCHEMAS.entries()) {
  Deno.test(`random documents under the mask fit schema ${i}`, () => {
    const validate = new Ajv({ strict: false }).compile(schema);
    for (let seed = 1; seed <= 20; seed++) {
      const text = randomDocument(schema, tokenizer, seed);
      assert(validate(JSON.parse(text)), `${text}: ${JSON.stringify(validate.errors)}`);
    }
  });
}

Deno.test("a given document passes, token by token, and no other one does", () => {
  const compiled = compileSchema(SCHEMAS[0], tokenizer, { whitespace: "free" });
  const isAccepted = (text: string) => {
    const matcher = compiled.matcher();
    return tokenizer.encode(text).every((token) => matcher.accept(token)) && matcher.isComplete;
  };
  assert(isAccepted('{"name": "Ada", "age": 36}'));
  assert(!isAccepted('{"name": "Ada", "age": "36"}'));
  assert(!isAccepted('{"name": "Ada"'));
});

Deno.test("a refused schema says where and why", () => {
  const impossible = {
    type: "object",
    required: ["x"],
    properties: { x: { minimum: 5, maximum: 3, type: "integer" } },
  };
  const error = assertThrows(() => compileSchema(impossible, tokenizer), SchemaError);
  assertEquals(error.pointer, "/properties/x");
  const remote = assertThrows(
    () => compileSchema({ $ref: "https://example.com/a" }, tokenizer),
    SchemaError,
  );
  assertEquals(remote.keyword, "$ref");
  assertThrows(() => compileSchema("{ not json", tokenizer), SchemaError);
});
