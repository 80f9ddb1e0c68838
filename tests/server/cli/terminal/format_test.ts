// Sizes, times, tables and widths as the commands print them.

import { assertEquals } from "@std/assert";
import {
  formatBytes,
  formatRelative,
  formatRemaining,
  formatTable,
  padEnd,
  truncate,
  widthOf,
} from "../../../../server/cli/terminal/format.ts";

Deno.test("formatBytes() has two or three digits, and never a thousand of a unit", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 KB"],
    [9940, "9.9 KB"],
    [9960, "10 KB"],
    [999_400, "999 KB"],
    [999_600, "1.0 MB"],
    [815_319_791, "815 MB"],
    [1.94e9, "1.9 GB"],
    [2.5e12, "2.5 TB"],
    [2.5e15, "2500 TB"],
  ];
  for (const [bytes, text] of cases) assertEquals(formatBytes(bytes), text);
});

Deno.test("formatRemaining() takes six characters at most", () => {
  const cases: [number, string][] = [
    [0.2, "1s"],
    [38, "38s"],
    [59.5, "1m00s"],
    [133, "2m13s"],
    [3599, "59m59s"],
    [3600, "1h00m"],
    [3965, "1h06m"],
    [359_999, "99h59m"],
    [360_000, ""],
    [Infinity, ""],
  ];
  for (const [seconds, text] of cases) assertEquals(formatRemaining(seconds), text);
});

Deno.test("formatRelative() counts whole units, and knows for ever", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const cases: [number, string][] = [
    [-0.4, "Now"],
    [-1, "1 second ago"],
    [-125, "2 minutes ago"],
    [241, "4 minutes from now"],
    [-90_000, "1 day ago"],
    [9e9, "Forever"],
  ];
  for (const [seconds, text] of cases) {
    assertEquals(formatRelative(new Date(now.getTime() + 1000 * seconds), now), text);
  }
});

Deno.test("widthOf() counts columns: CJK and emoji two, marks and sequences none", () => {
  const cases: [string, number][] = [
    ["abc", 3],
    ["模型", 4],
    ["ｱｱ", 2],
    ["한국어", 6],
    ["e\u0301", 1],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["✈️", 2],
    ["\x1b[1mbold\x1b[22m", 4],
    ["▕█▏⠋…", 5],
    ["", 0],
  ];
  for (const [text, width] of cases) assertEquals(widthOf(text), width, text);
});

Deno.test("truncate() never exceeds the columns and cuts no character apart", () => {
  assertEquals(truncate("模型名称", 8), "模型名称");
  assertEquals(truncate("模型名称", 7), "模型名…");
  assertEquals(truncate("模型名称", 6), "模型…");
  assertEquals(truncate("ab👩‍👩‍👧c", 4), "ab…");
  assertEquals([truncate("abc", 1), truncate("abc", 0), truncate("abc", -3)], ["…", "", ""]);
  assertEquals([padEnd("模", 4), padEnd("abcd", 2)], ["模  ", "abcd"]);
});

Deno.test("formatTable() keeps columns in step where names are wide", () => {
  const table = formatTable([["NAME", "SIZE"], ["模型", "1 B"], ["ab", ""]]);
  assertEquals(table, "NAME    SIZE\n模型    1 B\nab\n");
});
