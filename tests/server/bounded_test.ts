// Texts and maps that are kept within bounds.

import { assertEquals } from "@std/assert";
import { bounded, setBounded } from "../../server/bounded.ts";

Deno.test("bounded() keeps a short text, and of a long one its beginning and length", () => {
  assertEquals(bounded("abc", 3), "abc");
  assertEquals(bounded("abcd", 3), "abc… (4 characters)");
  // No half of a character remains.
  assertEquals(bounded("ab😀d", 3), "ab\ufffd… (5 characters)");
});

Deno.test("setBounded() lets the oldest entry go", () => {
  const map = new Map<string, number>();
  for (const [index, key] of ["a", "b", "a", "c", "d"].entries()) setBounded(map, key, index, 2);
  assertEquals([...map], [["c", 3], ["d", 4]]);
});
