// The parts of formats that are in force, as answers reach them: alone, after thinking, and in calls.

import { assertEquals } from "@std/assert";
import { FormatRules } from "../../../engine/generate/constraint.ts";
import {
  json,
  literal,
  optional,
  repeat,
  sequence,
  textWithout,
} from "../../../engine/grammar/mod.ts";
import type { OutputFormat } from "../../../engine/types/mod.ts";

const schema = { type: "object", properties: { a: { items: { type: "integer" } } } };

/** The rules after each byte of an answer, without repetitions. */
function rulesOf(format: OutputFormat, answer: string): unknown[] {
  const rules = new FormatRules(format);
  const bytes = new TextEncoder().encode(answer);
  const all = Array.from(
    { length: bytes.length + 1 },
    (_, end) => JSON.stringify(rules.after(bytes.subarray(0, end))),
  );
  return all.filter((one, index) => one !== all[index - 1]).map((one) => JSON.parse(one));
}

const within = [
  { pointers: [""] },
  { pointers: ["/properties/a"] },
  { pointers: ["/properties/a/items"] },
  { pointers: ["/properties/a"] },
  { pointers: [""] },
];

Deno.test("the pointers of a schema are told with and without a grammar around it", () => {
  assertEquals(rulesOf({ schema }, '{"a": [1, 2]}'), within);
  assertEquals(rulesOf({ schema: JSON.stringify(schema) }, '{"a": [1, 2]}'), within);
  const thinking = sequence(
    optional(sequence(literal("<think>"), textWithout("</think>"), literal("</think>"))),
    json(schema),
  );
  const grammar = { root: sequence(thinking, repeat(literal("!"))) };
  assertEquals(rulesOf({ grammar }, '{"a": [1, 2]}'), within);
  assertEquals(
    rulesOf({ grammar }, '<think>{"a": [é</think>{"a": [1, 2]}'),
    [{ pointers: [""] }, {}, ...within],
  );
});

Deno.test("nothing is told of the schemas of tools, nor of what cannot be followed", () => {
  const call = { root: sequence(literal("call "), { ...json(schema), isQuiet: true }) };
  assertEquals(rulesOf({ grammar: call }, 'call {"a": 1}'), [{}]);
  assertEquals(rulesOf({ pattern: "(?=a)a" }, "a"), [{}]);
  assertEquals(rulesOf("json", "{}"), [{}]);
});

Deno.test("spans are told after bytes that end within a character", () => {
  assertEquals(rulesOf({ pattern: "é[x]" }, "éx"), [{ spans: [[0, 1]] }, { spans: [[1, 4]] }, {}]);
});
