// Streams of text in windows of many widths, as a terminal shows them.

import { assert, assertEquals } from "@std/assert";
import { WordWrap } from "../../../../server/cli/repl/answer_printer.ts";
import { widthOf } from "../../../../server/cli/terminal/mod.ts";
import { VirtualTerminal } from "./virtual_terminal.ts";

/** What a terminal shows of the text, which comes in pieces of that length. */
function wrap(text: string, columns: number, pieceLength: number): string[] {
  const terminal = new VirtualTerminal(columns);
  const words = new WordWrap(() => columns);
  const characters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  for (let start = 0; start < characters.length; start += pieceLength) {
    terminal.write(words.push(characters.slice(start, start + pieceLength).join("")));
  }
  return terminal.rows;
}

const CASES: [text: string, columns: number, rows: string[]][] = [
  ["one two three", 80, ["one two three"]],
  ["one two three", 9, ["one two", "three"]],
  ["one two three", 8, ["one two", "three"]],
  ["one two three", 7, ["one", "two", "three"]],
  ["a verylongword b", 6, ["a", "veryl", "ongwo", "rd b"]],
  ["one\ntwo three", 9, ["one", "two", "three"]],
  ["one\n\n  two three", 9, ["one", "", "  two", "three"]],
  // Wide characters take two columns and may be parted anywhere.
  ["日本語のテキスト", 9, ["日本語の", "テキスト"]],
  ["ab 日本語", 8, ["ab 日本", "語"]],
  ["smile 😀😀", 9, ["smile 😀", "😀"]],
  ["e\u0301e\u0301 e\u0301e\u0301", 5, ["e\u0301e\u0301", "e\u0301e\u0301"]],
  ["a\tb", 80, ["a    b"]],
];

Deno.test("WordWrap breaks rows between words, in whatever pieces a text comes", () => {
  for (const [text, columns, rows] of CASES) {
    for (const length of [1, 2, 3, 100]) {
      assertEquals(wrap(text, columns, length), rows, `${text} in ${columns} by ${length}`);
    }
  }
});

Deno.test("WordWrap loses no word and fills no last column in windows of all widths", () => {
  const text = "The quick brown fox, 日本語 and an extraordinarilylongword 😀 jump. ".repeat(5);
  const letters = (shown: string) => shown.replace(/\s/g, "");
  for (let columns = 3; columns < 60; columns++) {
    const rows = wrap(text, columns, 4);
    assertEquals(letters(rows.join("")), letters(text), `${columns} columns`);
    assert(rows.every((row) => widthOf(row) < columns), `${columns} columns: ${rows.join("|")}`);
  }
});

Deno.test("WordWrap goes on in a window that has got narrower or wider", () => {
  let columns = 40;
  const words = new WordWrap(() => columns);
  words.push("a row of some thirty columns, ");
  columns = 20;
  // The terminal has wrapped the row at 20; ten columns of the second are taken.
  assertEquals(words.push("then more words"), "then more\nwords");
  columns = 60;
  assertEquals(words.push(" and no break here"), " and no break here");
});
