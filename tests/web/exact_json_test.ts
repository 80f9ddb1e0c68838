// JSON as the page reads and writes it: numbers stay what they are, in the browser's database too.

import { assertEquals, assertThrows } from "@std/assert";
import { parseExact, writeExact } from "../../web/api/exact_json.ts";

Deno.test("numbers are written as they were read, also after the database has kept them", () => {
  const text = '{"a":[1,1.0,-0,1e21,9007199254740993,0.5,1e400],"b":{"c":"1.0","d":null}}';
  assertEquals(writeExact(parseExact(text)), text);
  assertEquals(writeExact(structuredClone(parseExact(text))), text);
  assertEquals(writeExact(parseExact('{"a":1.50}'), 2), '{\n  "a": 1.50\n}');
});

Deno.test("ordinary JSON is what JSON.parse makes of it", () => {
  const text = '{"a":[1,-2.5,1e-7,"x",true,null,{}],"9":[]}';
  assertEquals(parseExact(text), JSON.parse(text));
  assertThrows(() => parseExact("{"), SyntaxError);
});
