// Each keyword on its own, and beside others: values that must be allowed, and that must not.

import { assertEquals } from "@std/assert";
import { fromPlain, parseJson } from "../../../../engine/grammar/json/mod.ts";
import { readSchema } from "../../../../engine/grammar/schema/mod.ts";
import { accepts } from "./accepts.ts";
import { assertAllows } from "./cases.ts";

Deno.test("readSchema() takes boolean schemas, annotations and type lists", () => {
  assertAllows(true, [null, 1, "a", [], {}], []);
  assertAllows({ title: "x", nullable: true }, [null, {}], []);
  assertAllows({ type: ["string", "null"] }, [null, "a"], [1, [], {}, false]);
  assertAllows({ type: "integer" }, [3, -4], [1.5, "3"]);
});

Deno.test("readSchema() compares const and enum by value, whatever their kind", () => {
  assertAllows({ enum: [1, "a", null, [1, { b: 2 }]] }, [1, "a", null, [1, { b: 2 }]], [
    2,
    [1, { b: 3 }],
    [1, { b: 2, c: 1 }],
    false,
  ]);
  assertAllows({ const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, { a: 1, b: 2, c: 3 }]);
  assertAllows({ enum: ["a", 5, 7], type: "integer", minimum: 6 }, [7], ["a", 5]);
});

Deno.test("readSchema() applies bounds only to their JSON type", () => {
  assertAllows({ minimum: 2, exclusiveMaximum: 4 }, [2, 3.5, "x", null], [1, 4]);
  assertAllows({ minimum: 2, exclusiveMinimum: true }, [3], [2]);
  assertAllows({ multipleOf: 0.5, type: "number" }, [1.5, -2], [0.3]);
  assertAllows({ minLength: 2, maxLength: 3 }, ["ab", "a\u{1f600}", 1], ["a", "abcd"]);
  assertAllows({ pattern: "^a+$", minLength: 2 }, ["aa", 7], ["a", "ab"]);
});

Deno.test("readSchema() binds the formats of numbers, for numbers only", () => {
  assertAllows({ format: "int32" }, [2 ** 31 - 1, -(2 ** 31), "x"], [2 ** 31, 1.5]);
  assertAllows({ format: "int64" }, [2 ** 53, -(2 ** 53), "1.5"], [2 ** 63, 0.5]);
  assertAllows({ format: "float" }, [1.5, 1e300], []);
  assertAllows({ format: "uint8" }, [0, 255, "x"], [256, -1, 0.5]);
  assertAllows({ format: "int8" }, [-128, 127], [128, -129]);
  assertAllows({ format: "uint" }, [2 ** 63], [-1]);
  assertAllows({ format: "double-int" }, [2 ** 53 - 1, 1 - 2 ** 53], [2 ** 53]);
  assertAllows({ format: "unixtime" }, [1.8e9, -1], [0.5]);
  assertAllows({ type: "string", format: "int32" }, ["x"], [1]);
  for (const [formats, isBound] of [[true, true], ["standard", false], [false, false]] as const) {
    const { types, languages } = readSchema(parseJson('{"format":"int32"}'), { formats });
    assertEquals(accepts(types, languages, parseJson("0.5")), !isBound);
  }
});

Deno.test("readSchema() tells which schemas read integers by their spelling", () => {
  const isAsSpelled = (text: string) => readSchema(parseJson(text)).integersAsSpelled;
  assertEquals(isAsSpelled('{"$schema":"http://json-schema.org/draft-04/schema#"}'), true);
  assertEquals(isAsSpelled('{"$schema":"http://json-schema.org/draft-07/schema#"}'), false);
  assertEquals(isAsSpelled("{}"), false);
});

Deno.test("readSchema() declares keys in order, required ones that are not declared after them", () => {
  const schema = parseJson('{"type":"object","properties":{"2":{},"1":{}},"required":["x","1"]}');
  const { types } = readSchema(schema);
  const [object] = types.types[types.root]!.objects!;
  assertEquals(object!.properties.map(({ key, required }) => [key, required]), [
    ["2", false],
    ["1", true],
    ["x", true],
  ]);
});

Deno.test("readSchema() makes overlapping patternProperties disjoint", () => {
  const schema = {
    properties: { ab: { minimum: 0 } },
    patternProperties: { "^a": { type: "integer" }, "b$": { maximum: 9 } },
    additionalProperties: { type: "null" },
  };
  assertAllows(
    schema,
    [{ ab: 3 }, { ax: 11 }, { xb: 1.5 }, { axb: 9 }, { z: null }, {}],
    [{ ab: -1 }, { ab: 10 }, { ax: 1.5 }, { axb: 10 }, { axb: 1.5 }, { z: 1 }],
  );
  const { types, languages } = readSchema(parseJson(JSON.stringify(schema)));
  const { others } = types.types[types.root]!.objects![0]!;
  for (const [i, a] of others.entries()) {
    assertEquals(languages.contains(a.keys, "ab"), false, "a declared key is in no other language");
    for (const b of others.slice(i + 1)) {
      assertEquals(languages.isEmpty(languages.intersect(a.keys, b.keys)), true);
    }
  }
});

Deno.test("readSchema() counts properties and restricts their names", () => {
  assertAllows({ minProperties: 1, maxProperties: 2 }, [{ a: 1 }, { a: 1, b: 2 }, 3], [
    {},
    { a: 1, b: 2, c: 3 },
  ]);
  assertAllows({ propertyNames: { pattern: "^a", maxLength: 2 } }, [{ a: 1, ab: 2 }, {}], [
    { b: 1 },
    { abc: 1 },
  ]);
  assertAllows({ propertyNames: { enum: ["a"] }, properties: { b: {} } }, [{ a: 1 }], [{ b: 1 }]);
});

Deno.test("readSchema() turns dependencies into clauses", () => {
  const valid = [{}, { b: 1 }, { a: 1, b: 1 }];
  assertAllows({ dependentRequired: { a: ["b"] } }, valid, [{ a: 1 }]);
  assertAllows({ dependencies: { a: ["b"] } }, valid, [{ a: 1 }]);
  assertAllows({ dependentSchemas: { a: { required: ["b"] } } }, [...valid, 5], [{ a: 1 }]);
  assertAllows(
    { dependentSchemas: { a: { properties: { b: { type: "string" } } } } },
    [{ b: 1 }, { a: 1, b: "x" }],
    [{ a: 1, b: 1 }],
  );
});

Deno.test("readSchema() reads items in both meanings", () => {
  const draft7 = { items: [{ type: "string" }], additionalItems: { type: "null" } };
  assertAllows(draft7, [[], ["a"], ["a", null]], [[1], ["a", 1]]);
  const current = { prefixItems: [{ type: "string" }], items: false };
  assertAllows(current, [[], ["a"]], [[1], ["a", 1]]);
  assertAllows({ items: { type: "integer" }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [
    [],
    [1, 2, 3],
    ["a"],
  ]);
});

Deno.test("readSchema() splits items by what contains counts", () => {
  assertAllows({ contains: { minimum: 5 }, minContains: 2, maxContains: 3 }, [
    [5, 6],
    [1, 7, 8, 9],
    [5, 5, 1],
  ], [[], [5], [5, 6, 7, 8]]);
  assertAllows({ contains: { const: 1 }, minContains: 0 }, [[], [2]], []);
  assertAllows({ allOf: [{ contains: { const: 1 } }, { contains: { const: 2 } }] }, [[1, 2]], [
    [1],
    [2, 3],
  ]);
});

Deno.test("readSchema() keeps uniqueItems", () => {
  assertAllows({ uniqueItems: true }, [[1, "1"], [{ a: 1 }, { a: 2 }]], [[1, 1], [{}, {}]]);
});

Deno.test("readSchema() tells what is unevaluated by the branch that holds", () => {
  const schema = {
    properties: { a: {} },
    anyOf: [{ required: ["b"], properties: { b: {} } }, { required: ["c"], properties: { c: {} } }],
    unevaluatedProperties: false,
  };
  assertAllows(schema, [{ a: 1, b: 1 }, { c: 1 }, { b: 1, c: 1 }], [{ a: 1 }, { b: 1, d: 1 }]);
  const items = { prefixItems: [{}], contains: { type: "string" }, unevaluatedItems: false };
  assertAllows(items, [[1, "a"], ["a"]], [[1, "a", 2], [1]]);
});

/** The formats that pydantic writes into schemas, and those of ajv-formats. */
const KNOWN = [
  "binary base64url color date date-time directory-path duration email file-path fraction ipv4 ipv6",
  "ipv4interface ipv4network ipv6interface ipv6network ipvanyaddress ipvanyinterface ipvanynetwork",
  "json-string multi-host-uri name-email password path phone regex time time-delta uri uuid uuid1",
  "uuid3 uuid4 uuid5 uuid6 uuid7 uuid8 zoneinfo byte double float hostname int32 int64 iso-date-time",
  "iso-time json-pointer json-pointer-uri-fragment relative-json-pointer uri-reference uri-template",
  "url idn-email idn-hostname iri iri-reference base64 decimal",
].flatMap((names) => names.split(" "));

Deno.test("readSchema() warns of formats that nobody knows, and of no other", () => {
  const warningsOf = (format: string, formats: boolean | "standard" = true) =>
    readSchema(fromPlain({ items: { format } }), { formats }).warnings;
  for (const format of KNOWN) assertEquals(warningsOf(format), [], format);
  for (const format of ["stardate", "DATE", "", "constructor"]) {
    const [warning, ...more] = warningsOf(format);
    assertEquals([warning?.pointer, warning?.keyword, more.length], ["/items", "format", 0]);
    assertEquals([...warningsOf(format, false), ...warningsOf(format, "standard")], []);
  }
  // What is read twice, or in several scopes, is told once.
  const twice = { $defs: { a: { format: "stardate" } }, allOf: [{ $ref: "#/$defs/a" }], anyOf: [] };
  const { warnings } = readSchema(fromPlain({ ...twice, anyOf: [{ $ref: "#/$defs/a" }] }));
  assertEquals(warnings.map(({ pointer }) => pointer), ["/$defs/a"]);
});

Deno.test("readSchema() binds formats unless it is told otherwise, and ignores unknown ones", () => {
  assertAllows({ format: "date" }, ["2024-02-29", 5], ["2023-02-29", "today"]);
  assertAllows({ format: "no-such-format" }, ["x"], []);
  const loose = readSchema(parseJson('{"format":"date"}'), { formats: false });
  assertEquals(loose.types.types[loose.types.root]!.strings!.language, loose.languages.any());
});

Deno.test("readSchema() resolves dynamic references by the way that leads to them", () => {
  const list = {
    $id: "list",
    items: { $dynamicRef: "#item" },
    $defs: { any: { $dynamicAnchor: "item" } },
  };
  const strings = {
    $id: "strings",
    $ref: "list",
    $defs: { item: { $dynamicAnchor: "item", type: "string" } },
  };
  const schema = {
    $id: "https://example.com/root",
    properties: { some: { $ref: "strings" }, any: { $ref: "list" } },
    $defs: { list, strings },
  };
  assertAllows(schema, [{ some: ["a"], any: [1] }], [{ some: [1] }]);
  const $schema = "https://json-schema.org/draft/2019-09/schema";
  const tree = {
    $id: "tree",
    $recursiveAnchor: true,
    properties: { next: { $recursiveRef: "#" } },
  };
  const closed = {
    $schema,
    $id: "https://example.com/closed",
    $recursiveAnchor: true,
    $ref: "tree",
    unevaluatedProperties: false,
    $defs: { tree },
  };
  assertAllows(closed, [{ next: { next: {} } }], [{ next: { other: 1 } }]);
});

Deno.test("readSchema() knows the metaschemas", () => {
  for (
    const $ref of [
      "http://json-schema.org/draft-04/schema#",
      "http://json-schema.org/draft-06/schema",
      "http://json-schema.org/draft-07/schema#",
      "https://json-schema.org/draft/2019-09/schema",
      "https://json-schema.org/draft/2020-12/schema",
    ]
  ) {
    const valid = [{}, { type: "string", minLength: 1 }, { properties: { a: { items: {} } } }];
    const invalid = [5, { type: 5 }, { minLength: -1 }, { properties: { a: { type: "x" } } }];
    assertAllows({ $ref }, valid, invalid);
  }
  const $ref = "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger";
  assertAllows({ $ref }, [0, 5], [-1, "a"]);
});

Deno.test("readSchema() gives unevaluatedProperties what the one branch of oneOf evaluates", () => {
  const branches = Array.from({ length: 12 }, (_, i) => ({
    required: [`k${i}`],
    properties: { [`k${i}`]: {} },
  }));
  const schema = { oneOf: branches, unevaluatedProperties: false };
  assertAllows(schema, [{ k3: 1 }], [{ k3: 1, k4: 1 }, { k3: 1, x: 1 }, {}]);
});

Deno.test("readSchema() takes bounds that no number reaches", () => {
  const text = '{"type":"number","maximum":1e400,"exclusiveMinimum":-1e9999}';
  const { types, languages } = readSchema(parseJson(text));
  assertEquals(accepts(types, languages, parseJson("1.5e300")), true);
});
