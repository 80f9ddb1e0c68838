// The typed getters: values, fallbacks, and errors with the name of the key.
// No file is read here.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import { MetadataReader } from "../../../engine/gguf/mod.ts";

const metadata = new MetadataReader({
  path: "m.gguf",
  metadata: {
    number: 0.5,
    count: 12,
    negative: -1,
    big: 2n ** 60n,
    text: "llama",
    flag: false,
    strings: ["a", "b"],
    numbers: Int32Array.of(1, -2),
    longs: BigInt64Array.of(3n),
    booleans: [true],
  },
});

Deno.test("MetadataReader gives values by type", () => {
  assertEquals(metadata.number("number"), 0.5);
  assertEquals(metadata.number("negative"), -1);
  assertEquals(metadata.count("count"), 12);
  assertEquals(metadata.string("text"), "llama");
  assertEquals(metadata.boolean("flag"), false);
  assertEquals(metadata.strings("strings"), ["a", "b"]);
  assertEquals(metadata.numbers("numbers"), [1, -2]);
  assertEquals(metadata.numbers("longs"), [3]);
  assertEquals([metadata.has("flag"), metadata.has("none")], [true, false]);
});

Deno.test("MetadataReader gives the fallback for a missing key only", () => {
  assertEquals(metadata.optionalNumber("none", 7), 7);
  assertEquals(metadata.optionalNumber("none", undefined), undefined);
  assertEquals(metadata.optionalNumber("number", 7), 0.5);
  assertEquals(metadata.optionalCount("none", null), null);
  assertEquals(metadata.optionalString("none", ""), "");
  assertEquals(metadata.optionalBoolean("flag", true), false);
  assertEquals(metadata.optionalStrings("none", []), []);
  assertEquals(metadata.optionalNumbers("numbers", []), [1, -2]);
  assertThrows(() => metadata.optionalNumber("text", 7), GgufError, "text");
});

Deno.test("MetadataReader raises GgufError with the key's name", () => {
  const missing = assertThrows(() => metadata.string("llama.none"), GgufError);
  assertEquals([missing.file, missing.field], ["m.gguf", "llama.none"]);
  assertStringIncludes(missing.message, "the key is missing");
  const wrong: [string, () => unknown, string][] = [
    ["big", () => metadata.number("big"), "is not a number"],
    ["negative", () => metadata.count("negative"), "is not a whole number"],
    ["number", () => metadata.count("number"), "is not a whole number"],
    ["count", () => metadata.string("count"), 'number "12" is not a string'],
    ["count", () => metadata.boolean("count"), "is not a boolean"],
    ["booleans", () => metadata.strings("booleans"), "an array is not an array of strings"],
    ["strings", () => metadata.numbers("strings"), "an array is not an array of numbers"],
  ];
  for (const [key, run, state] of wrong) {
    assertEquals(assertThrows(run, GgufError, state).field, key);
  }
});
