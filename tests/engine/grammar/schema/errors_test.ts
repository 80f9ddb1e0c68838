// Schemas that are refused: where, for which keyword, in which words.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromPlain } from "../../../../engine/grammar/json/mod.ts";
import { readSchema } from "../../../../engine/grammar/schema/mod.ts";
import { assertAllows, assertRefuses } from "./cases.ts";

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

Deno.test("readSchema() reads a path to a definition as its pointer, under any $id", () => {
  const $defs = { "a/b#": { type: "integer" }, list: { items: { $ref: "/$defs/a~1b#" } } };
  for (const $id of [undefined, "https://example.com/schemas/one.json", "urn:one"]) {
    const at = (keyword: string, reference: string) => ({
      ...$id && { $id },
      type: "array",
      items: { [keyword]: reference },
      $defs,
    });
    for (const reference of ["#/$defs/a~1b#", "/$defs/a~1b#", "/%24defs/a~1b%23"]) {
      assertAllows(at("$ref", reference), [[1], []], [["x"], [null]]);
      assertAllows(at("$dynamicRef", reference), [[1], []], [["x"], [null]]);
    }
    assertAllows({ ...at("$ref", "/$defs/list"), $defs }, [[[1]]], [[["x"]]]);
  }
  // Inside of a schema with an $id, the pointer may be from there, or from the root.
  const inner = { $id: "https://example.com/inner", items: { $ref: "/$defs/own" } };
  const own = { own: { type: "null" } };
  assertAllows({ allOf: [{ ...inner, $defs: own }], $defs }, [[null]], [[1]]);
  assertAllows({ allOf: [inner], $defs: own }, [[null]], [[1]]);
  // What a URI names comes first.
  const named = { $id: "https://example.com/$defs/own", type: "string" };
  assertAllows(
    { $id: "https://example.com/", items: { $ref: "/$defs/own" }, $defs: { ...own, named } },
    [["x"]],
    [[null]],
  );
});

Deno.test("readSchema() refuses references that lead nowhere, with what was perhaps meant", () => {
  const $defs = { X: { type: "integer" } };
  const nowhere = [
    "#/definitions/X",
    "#X",
    "X",
    "$defs/X",
    "#$defs/X",
    "/$defs/Y",
    "/X",
    "#/$defs/X/0",
  ];
  for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
    for (const reference of nowhere) {
      const schema = { type: "array", items: { [keyword]: reference }, $defs };
      const message = assertRefuses(schema, "/items", keyword);
      assertStringIncludes(message, `"${reference}" leads nowhere`);
      const isMeant = reference.endsWith("X");
      assertEquals(message.includes('"#/$defs/X" is there'), isMeant, message);
    }
    assertRefuses({ items: { [keyword]: "#/title" }, title: "text" }, "/items", keyword);
    assertRefuses({ items: { [keyword]: "#/prefixItems/" }, prefixItems: [{}] }, "/items", keyword);
  }
  for (const reference of ["https://example.com/x.json", "urn:x", "file:///x.json#/$defs/X"]) {
    const message = assertRefuses({ items: { $ref: reference }, $defs }, "/items", "$ref");
    assertStringIncludes(message, "nothing is fetched");
  }
});

Deno.test("readSchema() refuses what is malformed or unsupported, with its keyword", () => {
  assertRefuses({ type: "integr" }, "", "type");
  assertRefuses({ items: { minItems: -1 } }, "/items", "minItems");
  assertRefuses({ required: "a" }, "", "required");
  assertRefuses({ properties: { a: { pattern: "(" } } }, "/properties/a", "pattern");
  assertRefuses({ properties: { a: 5 } }, "", "");
  assertRefuses({ type: "array", not: { uniqueItems: true } }, "", "not");
});
