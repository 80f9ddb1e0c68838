// JSON texts with their numbers as they are written: what is read and written again is the same, in
// this thread and after postMessage.

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  asDouble,
  isJsonNumber,
  isJsonObject,
  isSameNumber,
  JsonNumber,
  jsonNumber,
  numberText,
  parseExactJson,
  writeExactJson,
} from "../../../tokenizer/mod.ts";
import { slowness, threadTime } from "../../cpu_time.ts";

const NUMBERS = (
  "0 1 -1 0.5 1e-7 -0 -0.0 1.0 1.50 1e0 1E5 1e21 1e+21 100000000000000000000 9007199254740991 " +
  "9007199254740992 9007199254740993 -9223372036854775808 18446744073709551615 1e400 -1e400 " +
  "1e-400 0.1234567890123456789 123456789012345678901234567890"
).split(" ");

Deno.test("numbers of a JSON text are written as they were read", () => {
  const text = `{"a":[${NUMBERS.join()}],"__proto__":{"b":1.0},"a":[${NUMBERS.join()}],"s":"1.0"}`;
  const value = parseExactJson(text);
  const expected = text.replace(/"a":.*?\],/, "").replace(/^(\{)(.*?),("a":.*?\])/, "$1$3,$2");
  assertEquals(JSON.stringify(value), expected);
  assertEquals(writeExactJson(value), expected);
  assertEquals(writeExactJson(structuredClone(value)), expected);
});

Deno.test("only numbers that JavaScript would change are objects", () => {
  for (const text of NUMBERS) {
    const value = Number(text);
    const isKept = String(value) !== text || Math.abs(value) > Number.MAX_SAFE_INTEGER;
    const number = jsonNumber(text);
    assertEquals(isJsonNumber(number), isKept, text);
    assertEquals(isJsonNumber(structuredClone(number)), isKept, text);
    assertEquals(numberText(number), text);
    assertEquals(asDouble(structuredClone(number)), value);
    assert(!isJsonObject(number), text);
  }
  assertEquals(numberText(12n), "12");
  assertEquals([numberText(NaN), numberText("1"), numberText(new String("a"))], [
    undefined,
    undefined,
    undefined,
  ]);
  assert(!isJsonNumber(new String("one")) && !isJsonNumber("1.0"));
  assert(isJsonObject({}) && !isJsonObject([]) && !isJsonObject(null));
});

Deno.test("what is no number is none", () => {
  for (const text of ["", "1.", ".5", "+1", "01", "1e", "NaN", "Infinity", " 1", "0x1"]) {
    assertThrows(() => new JsonNumber(text), SyntaxError);
  }
  assertThrows(() => parseExactJson("9".repeat(1025)), SyntaxError);
  assertEquals(writeExactJson(parseExactJson("9".repeat(1024))), "9".repeat(1024));
  assertThrows(() => parseExactJson("{"), SyntaxError);
});

Deno.test("texts that would take long are refused before they do", () => {
  const start = threadTime();
  const texts = [
    "[".repeat(1e6),
    `{"a":[${"1.0,".repeat(3e6)}1]}`,
    `[${"{},".repeat(1e6)}{}]`,
    `[${"9".repeat(1e6)}]`,
  ];
  for (const text of texts) {
    assertMatch(assertThrows(() => parseExactJson(text), Error).message, /over|no number/);
  }
  // JSON.parse with a function that sees the text of each number takes ten times as long.
  parseExactJson(`[${"1.0,".repeat(5e5)}1]`);
  assert(threadTime() - start < 2000 * slowness(), `${threadTime() - start} ms`);
});

Deno.test("bigints are written as numbers", () => {
  assertEquals(
    writeExactJson({ a: [2n ** 64n, -1n], b: "x" }),
    '{"a":[18446744073709551616,-1],"b":"x"}',
  );
});

Deno.test("isSameNumber() compares by value", () => {
  const same: [string, number][] = [
    ["1.0", 1],
    ["1e2", 100],
    ["-0.0", 0],
    ["0.10", 0.1],
    ["100e-3", 0.1],
    ["1e21", 1e21],
    ["0e999999999999999999999", 0],
  ];
  for (const [text, double] of same) assert(isSameNumber(text, double), text);
  const other: [string, number][] = [
    ["9007199254740993", 9007199254740992],
    ["1e400", Infinity],
    ["1e-400", 0],
    ["0.10000000000000001", 0.1],
    ["-1", 1],
    ["1e999999999999999999999", Infinity],
  ];
  for (const [text, double] of other) assert(!isSameNumber(text, double), text);
});
