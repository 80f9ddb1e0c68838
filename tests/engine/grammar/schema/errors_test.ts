// Schemas that are refused: where, for which keyword, in which words.

import { assertStringIncludes } from "@std/assert";
import { fromPlain } from "../../../../engine/grammar/json/mod.ts";
import { readSchema } from "../../../../engine/grammar/schema/mod.ts";
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
  assertStringIncludes(assertRefuses(both, "", "allOf"), "/allOf/0 and /allOf/1");
});

Deno.test("readSchema() names the keyword of each contradiction", () => {
  const cases: [schema: unknown, keyword: string][] = [
    [{ enum: [] }, "enum"],
    [{ type: "string", enum: [1, 2] }, "enum"],
    [{ const: 5, type: "string" }, "const"],
    [{ type: "object", required: ["a"], additionalProperties: false }, "required"],
    [{ type: "object", required: ["a"], propertyNames: { pattern: "^b" } }, "required"],
    [{ type: "object", minProperties: 2, maxProperties: 1 }, "minProperties"],
    [
      {
        type: "object",
        minProperties: 2,
        properties: { a: true },
        additionalProperties: false,
      },
      "minProperties",
    ],
    [{ type: "array", minItems: 1, items: false }, "minItems"],
    [{ type: "array", uniqueItems: true, minItems: 3, items: { type: "boolean" } }, "minItems"],
    [{ type: "array", maxItems: 2, minContains: 3, contains: { const: 1 } }, "maxItems"],
    [{ type: "string", format: "ipv4", minLength: 20 }, "minLength"],
    [{ type: "integer", multipleOf: 10, minimum: 1, maximum: 9 }, "minimum"],
    [{ not: {} }, "not"],
    [{ type: [] }, "type"],
  ];
  for (const [schema, keyword] of cases) assertRefuses(schema, "", keyword);
  const endless = { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] };
  assertStringIncludes(assertRefuses(endless, "/properties/a", "$ref"), "without an end");
});

Deno.test("readSchema() knows when items are too few to be different", () => {
  const bit = { type: "boolean" };
  const pair = { type: "object", properties: { a: bit, b: bit }, required: ["a", "b"] };
  const closed = { ...pair, additionalProperties: false };
  const different = (items: unknown, minItems: number) => ({
    type: "array",
    uniqueItems: true,
    items,
    minItems,
  });
  assertRefuses(different(closed, 5), "", "minItems");
  readSchema(fromPlain(different(closed, 4)));
  readSchema(fromPlain(different(pair, 5)));
  assertRefuses(different({ enum: [1, 1.0, [1], [1.0]] }, 3), "", "minItems");
  assertRefuses(different({ type: "array", items: bit, maxItems: 1 }, 4), "", "minItems");
  const scarce = [{ enum: [1, 2] }, { enum: [2, 1] }, { enum: [1, 2, 3] }, { enum: [3] }];
  assertRefuses({ ...different(false, 4), prefixItems: scarce }, "", "minItems");
  readSchema(fromPlain({ ...different(false, 3), prefixItems: scarce }));
  const contains = { contains: { const: 1 }, minContains: 2 };
  assertRefuses({ ...different({}, 2), ...contains }, "", "minItems");
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
