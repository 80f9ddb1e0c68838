// How documents are spelled, by hand: unique keys, no half characters, one escape for each character,
// numbers and white space that end. And that the fuzz tests would notice if it were otherwise.

import { assert, assertEquals } from "@std/assert";
import { type CompileOptions, compileSchema } from "../../../engine/grammar/mod.ts";
import { parseExactJson } from "../../../tokenizer/mod.ts";
import { documentFaults } from "./fuzz/document_faults.ts";
import { judgeOf } from "./fuzz/judge.ts";
import { bytePairVocabulary } from "./fuzz/vocabularies.ts";

const { tokenizer } = bytePairVocabulary();
const encoder = new TextEncoder();

/** Whether bytes may come, one by one, as a document of a schema or its beginning. */
function mayCome(
  text: string | Uint8Array,
  options?: CompileOptions,
  schema: object = {},
): boolean {
  const matcher = compileSchema(schema, tokenizer, options).matcher();
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  return bytes.every((byte) => matcher.accept(byte));
}

Deno.test("a key comes once, whatever it holds", () => {
  for (const key of ["a", "", "é", '\\"', "\\u0000", "__proto__"]) {
    assert(mayCome(`{"${key}":1,"${key}x":2,"z":{"${key}":3}}`), key);
    assert(!mayCome(`{"${key}":1,"z":2,"${key}":`), key);
  }
  const declared = { properties: { ab: {}, b: {} } };
  for (const anyOrder of [false, true]) {
    assert(!mayCome('{"ab":1,"b":2,"ab":', { anyOrder }, declared));
    assert(!mayCome('{"ab":1,"c":2,"c":', { anyOrder }, declared));
  }
});

Deno.test("a string is UTF-8 without surrogates, and each character has one escape", () => {
  for (
    const text of ["é", "😀", '\\"', "\\\\", "\\n", "\\b", "\\u0000", "\\u001f", "\u007f/\u2028"]
  ) {
    assert(mayCome(`"${text}"`), text);
  }
  for (
    const text of [
      ...[
        "\\/",
        "\\u0041",
        "\\u000a",
        "\\u001F",
        "\\ud800",
        "\\ud83d\\ude00",
        "\\u00e9",
        "\n",
        "\t",
      ],
      ...[[0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90], [0xff], [0xc3, 0x22], [0x80]],
    ]
  ) {
    const content = typeof text === "string" ? encoder.encode(text) : Uint8Array.from(text);
    assert(!mayCome(Uint8Array.of(0x22, ...content, 0x22)), String(text));
  }
});

Deno.test("numbers and white space do not go on and on", () => {
  for (const digit of "0123456789") {
    for (const start of ["1", "-9", "0.", "-3.5"]) {
      assert(!mayCome(start + digit.repeat(40)), `${start}${digit}...`);
    }
  }
  for (const text of ["[-0]", "01", "1e5", "[1.50]", "+1", ".5"]) assert(!mayCome(text), text);
  for (const space of [" ", "\n", "\t", "\r"]) {
    const free = { whitespace: "free" } as const;
    for (
      const [before, after] of [["", "[1]"], ["[", "1]"], ["[1", "]"], ["[1,", "2]"], ["[]", ""]]
    ) {
      assert(mayCome(before + space.repeat(64) + after, free), before);
      assert(!mayCome(before + space.repeat(65), free), before);
      assertEquals(mayCome(before + space), before === "[1," && space === " ", before);
      assert(!mayCome(before + space, { whitespace: "none" }), before);
    }
  }
});

Deno.test("numbers of const and enum come as the schema writes them", () => {
  const cases: [schema: string, comes: string[], never: string[]][] = [
    ['{"enum":[1.0,2e3,-0,"1.0"]}', ["1.0", "2e3", "-0", '"1.0"'], ["1]", "2000", "0", "2E3"]],
    ['{"enum":[1.0,1]}', ["1.0"], ["1]", "1e"]],
    ['{"enum":[1,1.0]}', ["1"], ["1.0"]],
    ['{"const":{"a":[1.50,1e21]}}', ['{"a":[1.50,1e21]}'], ['{"a":[1.5,']],
    ['{"const":1e400}', ["1e400"], ["10"]],
    ['{"type":"integer","enum":[1.0,2e3]}', ["1", "2000"], ["1.0", "2e"]],
    ['{"prefixItems":[{"const":1},{"const":1.0}],"minItems":2}', ["[1,1.0]"], ["[1.0", "[1,1]"]],
    ['{"anyOf":[{"const":1.0},{"type":"integer"}]}', ["1"], ["1.0"]],
    // Items are compared as texts, so equal numbers are written alike.
    [
      '{"uniqueItems":true,"prefixItems":[{"enum":[1.0,2.0]},{"type":"number"}],"minItems":2}',
      ["[1,2]", "[2,1]"],
      ["[1.0", "[1,1]"],
    ],
  ];
  for (const [schema, comes, never] of cases) {
    for (const value of [schema, parseExactJson(schema), structuredClone(parseExactJson(schema))]) {
      for (const text of comes) assert(mayCome(text, {}, value as object), `${text} of ${schema}`);
      for (const text of never) assert(!mayCome(text, {}, value as object), `${text} of ${schema}`);
    }
  }
});

Deno.test("documentFaults() notices each fault", () => {
  const faults = (text: string, options: CompileOptions = {}) =>
    documentFaults(encoder.encode(text), options).length;
  assertEquals(faults('{"a": [1, {"a":-2.5e3}, "\\n", 0.0000001], "b":{}}'), 0);
  assertEquals(documentFaults(Uint8Array.of(0x22, 0xc3, 0x22), {}).length, 1);
  for (
    const text of [
      ...['{"a":1,"a":2}', '{"a":{},"b":{"c":1,"c":2}}', '"\\ud800"', '"\\/"', '"\\u0041"', "-0"],
      ...["1.50", "1e999", "9".repeat(65), "[1 ]", "[1,  2]", "[1,\n2]", "[1,", '{"a":1}}'],
    ]
  ) assertEquals(faults(text), 1, text);
  assertEquals(faults("[1, 2]", { whitespace: "none" }), 1);
  assertEquals(faults(`[1,${" ".repeat(64)}2 ]`, { whitespace: "free" }), 0);
  assertEquals(faults(`[1,${" ".repeat(65)}2]`, { whitespace: "free" }), 1);
});

Deno.test("judgeOf() reads schemas as their drafts mean them", () => {
  const draft = (number: string) => `http://json-schema.org/draft-0${number}/schema#`;
  const cases: [schema: object, valid: unknown[], invalid: unknown[]][] = [
    [{ $schema: draft("4"), minimum: 3, exclusiveMinimum: true, const: 1 }, [4], [3]],
    [{ $schema: draft("4"), maximum: 3, exclusiveMaximum: false }, [3], [4]],
    [{ $schema: draft("7"), $ref: "#/definitions/a", maximum: 1, definitions: { a: {} } }, [2], []],
    [{ $ref: "#/$defs/a", maximum: 1, $defs: { a: {} } }, [1], [2]],
    [{ $schema: draft("7"), contains: { const: 1 } }, [[1, 2], 3], [[], [2]]],
    [{ multipleOf: 0.1 }, [10.1, -10.1, 12345671234567.6, 0], [0.15]],
    [{ prefixItems: [{ type: "string" }], format: "date" }, [["a"], "2024-02-29"], [
      [1],
      "2023-02-29",
    ]],
  ];
  for (const [schema, valid, invalid] of cases) {
    const judge = judgeOf(schema)!;
    for (const value of valid) assertEquals(judge(value), undefined, JSON.stringify(schema));
    for (const value of invalid) assert(judge(value) !== undefined, JSON.stringify(schema));
  }
  assertEquals(judgeOf({ $ref: "#/nowhere" }), undefined);
});
