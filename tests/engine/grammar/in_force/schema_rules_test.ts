// Which parts of a schema are in force at each position of an answer.

import { assertEquals } from "@std/assert";
import { openDocument, schemaRules } from "../../../../engine/grammar/in_force/mod.ts";
import { SAMPLES } from "../../../../web/schema/samples.ts";

const forms = JSON.parse(SAMPLES.find(({ format }) => format.includes("anyOf"))!.format);

function rulesAt(schema: unknown, beginning: string): string[] {
  return schemaRules(schema, openDocument(beginning));
}

/** The innermost rules. */
function innermost(schema: unknown, beginning: string): string[] {
  const all = rulesAt(schema, beginning);
  return all.filter((one) => !all.some((other) => other !== one && other.startsWith(`${one}/`)));
}

Deno.test("the rules of a value are those at its path, through references and in items", () => {
  const schema = {
    $defs: { item: { type: "object", properties: { "a/b": { type: "string" } } } },
    type: "array",
    prefixItems: [{ type: "null" }],
    items: { $ref: "#/$defs/item" },
  };
  assertEquals(rulesAt(schema, ""), [""]);
  assertEquals(rulesAt(schema, "[nu"), ["/prefixItems/0"]);
  assertEquals(rulesAt(schema, '[null, {"a/b": "x'), ["/$defs/item/properties/a~1b"]);
  assertEquals(rulesAt(schema, '[null, {"a/b": "x", "'), ["/items", "/$defs/item"]);
});

Deno.test("of anyOf those branches are in force that the answer so far leaves", () => {
  const both = ["/anyOf/0/properties/kind", "/anyOf/1/properties/kind"];
  assertEquals(innermost(forms, '{"kind": "'), both);
  assertEquals(innermost(forms, '{"kind": "m'), both.slice(0, 1));
  assertEquals(innermost(forms, '{"kind": "task", "title": "a\\'), ["/anyOf/1/properties/title"]);
  assertEquals(innermost(forms, '{"kind": "task", "'), ["/anyOf/1"]);
  assertEquals(innermost(forms, '{"with": "Anna", "'), ["/anyOf/0"]);
});

Deno.test("types, constants, numbers and required members decide between branches", () => {
  const left = (anyOf: unknown[], beginning: string) =>
    innermost({ anyOf }, beginning).map((pointer) => Number(pointer.split("/")[2]));
  const types = ["string", "integer", "number", "boolean", "null", "array", "object"];
  const all = types.map((type) => ({ type }));
  assertEquals(left(all, '"'), [0]);
  assertEquals(left(all, "-1"), [1, 2]);
  assertEquals(left(all, "1.5"), [2]);
  assertEquals(left(all, "f"), [3]);
  assertEquals(left(all, "n"), [4]);
  assertEquals(left([{ enum: ["ab", 12] }, { const: 13 }, { allOf: [{ type: "number" }] }], "13"), [
    1,
    2,
  ]);
  assertEquals(left([{ const: { a: [1, 2] } }, { const: { a: [3] } }], '{"a": [3'), [1]);
  const objects = [{ required: ["x"] }, { required: ["y"] }];
  const list = { type: "array", items: { anyOf: objects } };
  assertEquals(rulesAt({ anyOf: [list, { items: { type: "null" } }] }, '[{"y": 1}, '), [
    "/anyOf/0/items",
    "/anyOf/0/items/anyOf/0",
    "/anyOf/0/items/anyOf/1",
  ]);
  assertEquals(rulesAt({ $ref: "#" }, "[1"), [""]);
});
