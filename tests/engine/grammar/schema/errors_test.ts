// Schemas that are refused: where, for which keyword, in which words; and hostile ones in time.

import { assert, assertStringIncludes } from "@std/assert";
import { fromPlain } from "../../../../engine/grammar/json/mod.ts";
import { readSchema, SchemaError } from "../../../../engine/grammar/schema/mod.ts";
import { assertRefuses } from "./cases.ts";

Deno.test("readSchema() says where a schema cannot be satisfied, and by what", () => {
  const schema = {
    type: "object",
    properties: { x: { type: "number", minimum: 5, maximum: 3 } },
    required: ["x"],
  };
  const message = assertRefuses(schema, "/properties/x", "minimum");
  assertStringIncludes(message, "minimum 5 and maximum 3");
  assertRefuses({ type: "string", minLength: 3, maxLength: 2 }, "", "minLength");
  assertRefuses({ required: ["a"], properties: { a: false }, type: "object" }, "", "required");
  assertRefuses(false, "", "");
  const both = { allOf: [{ type: "string" }, { type: "number" }] };
  assertStringIncludes(assertRefuses(both, "", ""), "/allOf/0 and /allOf/1");
});

Deno.test("readSchema() refuses references that it cannot follow", () => {
  assertRefuses({ $ref: "http://example.com/x.json" }, "", "$ref");
  assertRefuses({ properties: { a: { $ref: "#/$defs/none" } } }, "/properties/a", "$ref");
  assertRefuses({ $ref: "#" }, "", "$ref");
  assertRefuses(
    { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
    "/$defs/a/anyOf/0",
    "$ref",
  );
});

Deno.test("readSchema() refuses what is malformed or unsupported, with its keyword", () => {
  assertRefuses({ type: "integr" }, "", "type");
  assertRefuses({ items: { minItems: -1 } }, "/items", "minItems");
  assertRefuses({ required: "a" }, "", "required");
  assertRefuses({ properties: { a: { pattern: "(" } } }, "/properties/a", "pattern");
  assertRefuses({ properties: { a: 5 } }, "", "");
  assertRefuses({ type: "array", not: { uniqueItems: true } }, "", "not");
});

const definitions = (length: number, make: (i: number) => unknown) =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`d${i}`, make(i)]));
const nested = (depth: number, wrap: (inner: unknown) => unknown) => {
  let schema: unknown = { type: "string" };
  for (let i = 0; i < depth; i++) schema = wrap(schema);
  return schema;
};
const HOSTILE: Record<string, () => unknown> = {
  "a chain of 10,000 references": () => ({
    $ref: "#/$defs/d0",
    $defs: definitions(10_000, (i) => i < 9_999 ? { $ref: `#/$defs/d${i + 1}` } : { type: "null" }),
  }),
  "200 nested allOf": () => nested(200, (inner) => ({ allOf: [inner] })),
  "240 nested not": () => nested(240, (inner) => ({ not: inner })),
  "a doubling chain of allOf": () => ({
    $ref: "#/$defs/d0",
    $defs: definitions(
      200,
      (i) =>
        i < 199
          ? { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }
          : { type: "null" },
    ),
  }),
  "a product of 40 unions": () => ({
    allOf: Array.from({ length: 40 }, (_, i) => ({
      anyOf: [
        { properties: { [`a${i}`]: { type: "string" } } },
        { properties: { [`b${i}`]: { type: "string" } } },
      ],
    })),
  }),
  "200 overlapping branches of oneOf": () => ({
    oneOf: Array.from({ length: 200 }, (_, i) => ({ properties: { [`k${i}`]: { minimum: i } } })),
  }),
  "60 overlapping patterns": () => ({
    patternProperties: definitions(60, () => ({ type: "string" })),
  }),
  "200 mutually recursive types": () => ({
    $defs: definitions(200, (i) => ({
      type: "object",
      properties: definitions(20, (j) => ({ $ref: `#/$defs/d${(i * 7 + j) % 200}` })),
    })),
    allOf: [{ $ref: "#/$defs/d0" }, { $ref: "#/$defs/d1" }, { $ref: "#/$defs/d2" }],
  }),
};

for (const [name, schema] of Object.entries(HOSTILE)) {
  Deno.test(`readSchema() ends soon with ${name}`, () => {
    const value = fromPlain(schema());
    const start = performance.now();
    try {
      readSchema(value);
    } catch (error) {
      assert(error instanceof SchemaError, String(error));
    }
    const time = performance.now() - start;
    assert(time < 2000, `it took ${time.toFixed(0)} ms`);
  });
}
