// Marks in text that comes in pieces: which counts, and what has to be held back.

import { type FoundMark, Marks } from "../../../../engine/chat/answers/open_call.ts";
import { assertEquals } from "@std/assert";

const MARKS = new Marks(["<a>", "<a>b", "ba(", "]"]);

const CASES: [text: string, found: FoundMark, atEnd?: FoundMark][] = [
  ["", { at: 0 }],
  ["text", { at: 4 }],
  ["text]<a>", { at: 4, mark: "]" }],
  ["text<a", { at: 4 }, { at: 6 }],
  ["text<a>", { at: 4 }, { at: 4, mark: "<a>" }],
  ["text<a>c", { at: 4, mark: "<a>" }],
  ["text<a>b", { at: 4, mark: "<a>b" }],
  ["baba", { at: 2 }, { at: 4 }],
  ["baba(", { at: 2, mark: "ba(" }],
  ["<<a", { at: 1 }, { at: 3 }],
];

for (const [text, found, atEnd = found] of CASES) {
  Deno.test(`Marks.find() in ${JSON.stringify(text)}`, () => {
    assertEquals(MARKS.find(text, false), found);
    assertEquals(MARKS.find(text, true), atEnd);
  });
}

Deno.test("Marks.find() finds nothing without marks", () => {
  assertEquals(new Marks([]).find("text", false), { at: 4 });
  assertEquals(new Marks([]).find("text", true), { at: 4 });
});
