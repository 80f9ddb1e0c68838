// Values that models write as plain text, and what a tool's schema says of them.

import { readLiteral } from "../../../../../engine/chat/answers/families/literals.ts";
import {
  argumentsOf,
  propertiesOf,
  propertyOf,
  type Schema,
  typesOf,
} from "../../../../../engine/chat/answers/families/tool_schema.ts";
import { valueOfText } from "../../../../../engine/chat/answers/families/typed_text.ts";
import { JsonNumber } from "../../../../../tokenizer/mod.ts";
import { assertEquals } from "@std/assert";

const LITERALS: [text: string, value: unknown][] = [
  ["5", 5],
  [" -0.5e3 ", new JsonNumber("-0.5e3")],
  [".5", 0.5],
  ["+05", 5],
  ["1.", new JsonNumber("1.0")],
  ["-9007199254740993", new JsonNumber("-9007199254740993")],
  ["1".repeat(1025), undefined],
  ["True", true],
  ["false", false],
  ["None", null],
  ["'it's'", "it's"],
  ["'a\\'b\\n\\u00e9\\d'", "a'b\né\\d"],
  ['"two\nlines"', "two\nlines"],
  ['<|"|>a "b" \\n<|"|>', 'a "b" \\n'],
  ["[1, 'a', [], (2,),]", [1, "a", [], [2]]],
  ["{'a': 1, b: {}, \"c\": None}", { a: 1, b: {}, c: null }],
  ["", undefined],
  ["Truely", undefined],
  ["5 6", undefined],
  ["[1 2]", undefined],
  ["[1", undefined],
  ["'a", undefined],
  ["{a}", undefined],
  ["[".repeat(1000) + "]".repeat(1000), undefined],
];

for (const [text, value] of LITERALS) {
  Deno.test(`readLiteral() of ${JSON.stringify(text.slice(0, 40))}`, () => {
    assertEquals(readLiteral(text), value);
  });
}

const TEXTS: [text: string, schema: Schema, value: unknown][] = [
  ["5", { type: "string" }, "5"],
  ["5", { type: "integer" }, 5],
  ["5", { type: ["string", "integer"] }, 5],
  ["5", { type: ["string", "null"] }, "5"],
  ["null", { type: ["string", "null"] }, null],
  ["5", { anyOf: [{ type: "string" }, { type: "boolean" }] }, "5"],
  ["5", { enum: ["5", "6"] }, "5"],
  ["5", { const: 5 }, 5],
  ["5", {}, 5],
  ["5.0", { type: "number" }, new JsonNumber("5.0")],
  ["5.0", { enum: [new JsonNumber("5.0"), 6] }, new JsonNumber("5.0")],
  ["five", {}, "five"],
  ["True", {}, "True"],
  ["True", { type: "boolean" }, true],
  ["{'a': [None]}", { type: "object" }, { a: [null] }],
  ["{'a': 1}", { type: ["object", "string"] }, { a: 1 }],
  ["[sic]", {}, "[sic]"],
  ["not a number", { type: "number" }, "not a number"],
  ["5", { allOf: [{ type: ["string", "number"] }, { type: "string" }] }, "5"],
];

for (const [text, schema, value] of TEXTS) {
  Deno.test(`${text} of ${JSON.stringify(schema)} means ${JSON.stringify(value)}`, () => {
    assertEquals(valueOfText(text, schema), value);
  });
}

Deno.test("schemas of tools are found behind references, circles too", () => {
  const tree = { anyOf: [{ type: "string" }, { $ref: "#/$defs/tree" }, { $ref: "#/$defs/tree" }] };
  const parameters = {
    $ref: "#/$defs/root",
    $defs: {
      root: {
        type: "object",
        properties: { tree: { $ref: "#/$defs/tree" }, loop: { $ref: "#/$defs/loop" } },
        required: ["tree"],
      },
      tree,
      loop: { $ref: "#/$defs/loop" },
    },
  };
  const schema = argumentsOf({ name: "f", parameters });
  assertEquals(propertiesOf(schema)?.map(({ key, required }) => [key, required]), [
    ["tree", true],
    ["loop", false],
  ]);
  assertEquals(typesOf(propertyOf(schema, "tree")).has("string"), true);
  assertEquals(typesOf(propertyOf(schema, "loop")).size, 6);
  assertEquals(propertiesOf(argumentsOf({ name: "f", parameters: true })), undefined);
});
