// Schemas combined: intersection, union, difference and recursion, and that unions stay short.

import { assertEquals } from "@std/assert";
import { fromPlain } from "../../../../engine/grammar/json/mod.ts";
import { readSchema } from "../../../../engine/grammar/schema/mod.ts";
import { assertAllows } from "./cases.ts";

function alternatives(schema: unknown): number {
  const { types } = readSchema(fromPlain(schema));
  return types.types[types.root]!.objects!.length;
}

Deno.test("readSchema() intersects allOf with its siblings and a $ref with its own", () => {
  const schema = {
    $defs: { named: { type: "object", properties: { name: { minLength: 2 } } } },
    $ref: "#/$defs/named",
    allOf: [{ properties: { name: { type: "string" } } }, { required: ["name"] }],
    properties: { name: { maxLength: 3 } },
  };
  assertAllows(schema, [{ name: "ab" }, { name: "abc", x: 1 }], [{}, { name: "a" }, { name: 1 }]);
});

Deno.test("readSchema() ignores the siblings of a $ref in draft 7, as it says", () => {
  const $schema = "http://json-schema.org/draft-07/schema#";
  const schema = { $schema, definitions: { a: { type: "array" } }, $ref: "#/definitions/a" };
  assertAllows({ ...schema, maxItems: 1 }, [[1, 2]], [1]);
  assertAllows({ ...schema, $schema: undefined, maxItems: 1 }, [[1]], [[1, 2]]);
});

Deno.test("readSchema() takes exactly one branch of oneOf where branches overlap", () => {
  assertAllows({ oneOf: [{ type: "integer" }, { minimum: 2 }] }, [1, 2.5, "a"], [3, 1.5]);
  const required = { oneOf: [{ required: ["a"] }, { required: ["b"] }] };
  assertAllows(required, [{ a: 1 }, { b: 1 }], [{}, { a: 1, b: 1 }]);
  const closed = {
    oneOf: [
      { properties: { a: {} }, additionalProperties: false },
      { properties: { a: {}, b: { type: "null" } }, required: ["b"], additionalProperties: false },
    ],
  };
  assertAllows(closed, [{}, { a: 1 }, { b: null }], [{ b: 1 }, { c: 1 }]);
});

Deno.test("readSchema() negates every kind of value", () => {
  assertAllows({ not: { type: ["string", "integer"] } }, [1.5, null, [], {}], ["a", 2]);
  assertAllows({ type: "string", not: { pattern: "^a" } }, ["b", ""], ["a", "ab"]);
  assertAllows({ type: "string", not: { maxLength: 2 } }, ["abc"], ["", "ab"]);
  assertAllows({ not: { required: ["a", "b"] } }, [{}, { a: 1 }, { b: 1 }], [{ a: 1, b: 1 }]);
  assertAllows({ not: { properties: { a: { type: "string" } } } }, [{ a: 1 }], [{}, { a: "x" }, 1]);
  assertAllows({ type: "array", not: { items: { type: "string" } } }, [[1], ["a", 1]], [[], ["a"]]);
  assertAllows({ not: { prefixItems: [{ const: 1 }, { const: 2 }] } }, [[2], [1, 3]], [[], [1], [
    1,
    2,
  ]]);
  assertAllows({ type: "array", not: { items: false } }, [[1]], [[]]);
  assertAllows({ not: { const: { a: [1, 2] } } }, [{ a: [1] }, { a: [1, 2], b: 1 }], [
    { a: [1, 2] },
  ]);
  assertAllows({ type: "object", not: { additionalProperties: false } }, [{ a: 1 }], [{}]);
});

Deno.test("readSchema() follows if, then and else", () => {
  const schema = {
    if: { properties: { kind: { const: "a" } }, required: ["kind"] },
    then: { required: ["x"] },
    else: { required: ["y"] },
  };
  assertAllows(schema, [{ kind: "a", x: 1 }, { kind: "b", y: 1 }, { y: 1 }], [
    { kind: "a" },
    { kind: "a", y: 1 },
    { x: 1 },
  ]);
});

Deno.test("readSchema() intersects and negates recursive types", () => {
  const schema = {
    $defs: {
      tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } } },
      marked: { properties: { next: { $ref: "#/$defs/marked" }, mark: { const: 1 } } },
    },
    allOf: [{ $ref: "#/$defs/tree" }, { not: { $ref: "#/$defs/marked" } }],
  };
  assertAllows(schema, [{ mark: 2 }, { next: { next: { mark: 2 } } }], [
    {},
    { next: { mark: 1 } },
    { next: 5 },
  ]);
});

Deno.test("readSchema() resolves $id, $anchor and pointers with escapes", () => {
  const schema = {
    $id: "http://example.com/root.json",
    $defs: {
      "a/b~c%": { type: "integer" },
      named: { $anchor: "here", type: "null" },
      other: { $id: "other.json", $defs: { x: { type: "string" } } },
    },
    anyOf: [
      { $ref: "#/$defs/a~1b~0c%25" },
      { $ref: "#here" },
      { $ref: "other.json#/$defs/x" },
    ],
  };
  assertAllows(schema, [1, null, "a"], [1.5, true, []]);
});

Deno.test("readSchema() keeps presence in clauses, so that unions do not multiply", () => {
  const pair = (i: number) => ({ anyOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }] });
  const schema = { type: "object", allOf: Array.from({ length: 12 }, (_, i) => pair(i)) };
  assertEquals(alternatives(schema), 1);
  const kinds = ["a", "b", "c"].map((kind) => ({ properties: { kind: { const: kind } } }));
  assertEquals(alternatives({ type: "object", required: ["kind"], oneOf: kinds }), 1);
});

Deno.test("readSchema() removes branches and keys that no value can have", () => {
  const { types } = readSchema(fromPlain({
    type: "object",
    $defs: {
      endless: { type: "object", properties: { x: { $ref: "#/$defs/endless" } }, required: ["x"] },
    },
    properties: {
      a: { $ref: "#/$defs/endless" },
      b: { anyOf: [{ $ref: "#/$defs/endless" }, { type: "null" }] },
    },
    additionalProperties: false,
  }));
  const [object] = types.types[types.root]!.objects!;
  assertEquals(object!.properties.map(({ key }) => key), ["b"]);
  assertEquals(types.types[object!.properties[0]!.type], { null: true });
});

Deno.test("readSchema() makes one type of equal scalar types", () => {
  const properties = {
    a: { type: "string" },
    b: { type: "string", title: "B" },
    c: { minimum: 1 },
  };
  const { types } = readSchema(fromPlain({ type: "object", properties }));
  const [object] = types.types[types.root]!.objects!;
  const [a, b, c] = object!.properties.map(({ type }) => type);
  assertEquals(a, b);
  assertEquals(a === c, false);
});
