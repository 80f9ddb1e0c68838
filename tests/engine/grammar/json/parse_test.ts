// JSON reading, against JSON.parse.

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  Decimal,
  fromPlain,
  JsonError,
  type JsonValue,
  parseJson,
} from "../../../../engine/grammar/json/mod.ts";

/** The value as JSON.parse would have it. */
function plain(value: JsonValue): unknown {
  if (value instanceof Decimal) return value.toNumber();
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, member]) => [key, plain(member)]));
  }
  return value;
}

const TEXTS = [
  "null",
  " true ",
  "\tfalse\r\n",
  '""',
  '"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"',
  '"\\ud800"',
  "0",
  "-0",
  "-12.50e-3",
  "1E+2",
  "[]",
  "[ ]",
  "{}",
  "{ }",
  '[1,[2,{"a":[]}],{}]',
  '{"b":1,"a":{"b":[null,true]},"b":2}',
  '{"2":1,"1":2}',
];

const BROKEN = [
  "",
  " ",
  "nul",
  "[",
  "[1",
  "[1,",
  "[1,]",
  "[,1]",
  "]",
  "{",
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,}',
  "{a:1}",
  '{"a" 1}',
  "01",
  "1.",
  ".5",
  "+1",
  "1e",
  "--1",
  "1-1",
  "NaN",
  '"',
  '"\n"',
  '"\\x"',
  '"\\u12g4"',
  "1 2",
  "[1}",
  '{"a":1]',
  "\u00a01",
  "\ufeff1",
];

Deno.test("parseJson() agrees with JSON.parse on texts and refuses what it refuses", () => {
  for (const text of TEXTS) assertEquals(plain(parseJson(text)), plainOf(text), text);
  for (const text of BROKEN) {
    assertThrows(() => JSON.parse(text));
    const error = assertThrows(() => parseJson(text), JsonError);
    assert(error.offset! <= text.length, text);
  }
  // Every cut and every changed character of a longer text.
  const text = '{"a":[1.5e3,"x\\u0041",{"b":null}],"c":-0.1}';
  for (let at = 0; at < text.length; at++) {
    for (const changed of [text.slice(0, at), text.slice(0, at) + "," + text.slice(at + 1)]) {
      let expected: unknown;
      try {
        expected = plainOf(changed);
      } catch {
        assertThrows(() => parseJson(changed), JsonError);
        continue;
      }
      assertEquals(plain(parseJson(changed)), expected, changed);
    }
  }
});

/** JSON.parse, with 0 for -0, which no set of numbers tells apart. */
function plainOf(text: string): unknown {
  return JSON.parse(text, (_key, value) => value === 0 ? 0 : value);
}

Deno.test("parseJson() keeps the order of keys, special keys and exact numbers", () => {
  const value = parseJson('{"2":1,"1":2,"__proto__":3,"2":12345678901234567890.10}');
  assert(value instanceof Map);
  assertEquals([...value.keys()], ["2", "1", "__proto__"]);
  assertEquals(String(value.get("2")), "12345678901234567890.1");
});

Deno.test("parseJson() names the offset, and refuses deep texts and large numbers at once", () => {
  assertEquals(assertThrows(() => parseJson('{"a": tru}'), JsonError).offset, 6);
  const number = assertThrows(() => parseJson("[1, 01]"), JsonError);
  assertEquals(number.offset, 4);
  parseJson("[".repeat(512) + "]".repeat(512));
  assertThrows(() => parseJson("[".repeat(1e6)), JsonError, "512 deep");
  assertThrows(() => parseJson('{"a":'.repeat(1e5)), JsonError, "512 deep");
  assertThrows(() => parseJson("9".repeat(1e6)), JsonError);
  assertThrows(() => parseJson("1e99999999999"), JsonError, "out of range");
  const long = "x".repeat(1e6);
  assertEquals(parseJson(JSON.stringify(long)), long);
});

Deno.test("fromPlain() reads values as JSON.stringify writes them", () => {
  const value = { b: [1, -0, 0.1, undefined, 10n], a: { c: null, d: undefined }, "1": "x" };
  const read = fromPlain(value);
  assertEquals(plain(read), { b: [1, 0, 0.1, null, 10], a: { c: null }, "1": "x" });
  assertEquals(read, fromPlain(read));
  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const wrong of [cycle, NaN, () => 1, { a: Symbol("s") }, undefined]) {
    assertThrows(() => fromPlain(wrong), JsonError);
  }
});
