// Sizes of memory in the words of settings.

import { assertEquals, assertThrows } from "@std/assert";
import { parseByteSize } from "../../../server/settings/quantities.ts";

Deno.test("parseByteSize() reads what people write", () => {
  const sizes: Record<string, number> = {
    "0": 0,
    "1073741824": 2 ** 30,
    "24GB": 24e9,
    "8GiB": 8 * 2 ** 30,
    " 8 gib ": 8 * 2 ** 30,
    "1.5g": 1.5 * 2 ** 30,
    "512M": 512 * 2 ** 20,
    "512mb": 512e6,
    ".5k": 512,
    "2TiB": 2 * 2 ** 40,
    "12b": 12,
  };
  for (const [text, bytes] of Object.entries(sizes)) assertEquals(parseByteSize(text), bytes, text);
});

Deno.test("parseByteSize() refuses what is no size", () => {
  for (const text of ["", "GB", "-1GB", "1XB", "1GBB", "1 G i B", "1e9", "0x10", "1,5GB"]) {
    assertThrows(() => parseByteSize(text), RangeError, "invalid size");
  }
});
