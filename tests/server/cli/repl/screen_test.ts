// Where a text and its cursor come to be in windows of all widths, and that drawings replace each
// other.

import { assertEquals } from "@std/assert";
import { type EditorView, layOut, Screen } from "../../../../server/cli/repl/screen.ts";
import { VirtualTerminal } from "./virtual_terminal.ts";

function view(text: string, cursor = text.length): EditorView {
  return { prompt: ">>> ", continuation: "... ", text, cursor };
}

Deno.test("layOut() wraps at the edge and keeps track of the cursor", () => {
  const cases: [EditorView, columns: number, rows: string[], row: number, column: number][] = [
    [view(""), 20, [">>> "], 0, 4],
    [view("abc", 1), 20, [">>> abc"], 0, 5],
    [view("abcdef"), 8, [">>> abcd", "ef"], 1, 2],
    // A full row has its cursor on the next one.
    [view("abcd"), 8, [">>> abcd", ""], 1, 0],
    [view("abcdef", 4), 8, [">>> abcd", "ef"], 1, 0],
    [view("ab\ncd"), 20, [">>> ab", "... cd"], 1, 6],
    [view("ab\ncd", 2), 20, [">>> ab", "... cd"], 0, 6],
    [view("abcd\nef"), 8, [">>> abcd", "... ef"], 1, 6],
    [view("ab\n"), 20, [">>> ab", "... "], 1, 4],
    // A wide character does not straddle the edge.
    [view("abc日本"), 8, [">>> abc", "日本"], 1, 4],
    [view("日本", 1), 8, [">>> 日本", ""].slice(0, 1), 0, 6],
    [view("a\tb"), 20, [">>> a    b"], 0, 10],
    // A cursor within what the window shows as one character stands before it.
    [view("e\u0301", 1), 20, [">>> e\u0301"], 0, 4],
  ];
  for (const [shown, columns, rows, row, column] of cases) {
    assertEquals(layOut(shown, columns), { rows, row, column }, JSON.stringify(shown.text));
  }
});

Deno.test("Screen draws over what it drew, whatever the text was", () => {
  for (const columns of [8, 9, 20, 80]) {
    const terminal = new VirtualTerminal(columns);
    terminal.write("before\n");
    const screen = new Screen(terminal.write);
    const texts = ["", "a", "a long text that wraps", "two\nlines", "日本語日本語", "abcd", "x"];
    for (const text of texts) {
      for (const cursor of [0, Math.floor(text.length / 2), text.length]) {
        const shown = view(text, cursor);
        screen.draw(shown, { columns, rows: 24 });
        const { rows, row, column } = layOut(shown, columns);
        const wanted = ["before", ...rows.map((line) => line.trimEnd())];
        assertEquals(terminal.rows, wanted, `${JSON.stringify(text)} in ${columns}`);
        assertEquals([terminal.row, terminal.column], [row + 1, column]);
      }
    }
    screen.leave(view("done", 1), { columns, rows: 24 });
    terminal.write("after");
    assertEquals(terminal.rows.at(-1), "after");
    assertEquals(terminal.rows.filter((line) => line.includes(">>> ")).length, 1);
  }
});

Deno.test("Screen shows a placeholder until something is typed", () => {
  const terminal = new VirtualTerminal(40);
  const screen = new Screen(terminal.write);
  const size = { columns: 40, rows: 24 };
  screen.draw({ ...view(""), placeholder: "Say something" }, size);
  assertEquals([terminal.rows, terminal.column], [[">>> Say something"], 4]);
  screen.draw({ ...view("x"), placeholder: "Say something" }, size);
  assertEquals(terminal.rows, [">>> x"]);
});

Deno.test("Screen cuts a placeholder that the window cannot hold", () => {
  const terminal = new VirtualTerminal(10);
  const screen = new Screen(terminal.write);
  for (let count = 0; count < 3; count++) {
    screen.draw({ ...view(""), placeholder: "Say something" }, { columns: 10, rows: 24 });
  }
  assertEquals([terminal.rows, terminal.row], [[">>> Say s…"], 0]);
});

Deno.test("Screen shows the rows around the cursor of a text higher than the window", () => {
  const terminal = new VirtualTerminal(20);
  const screen = new Screen(terminal.write);
  const text = "1\n2\n3\n4\n5\n6";
  screen.draw(view(text), { columns: 20, rows: 3 });
  assertEquals(terminal.rows, ["... 4", "... 5", "... 6"]);
  screen.draw(view(text, 0), { columns: 20, rows: 3 });
  assertEquals([terminal.rows, terminal.row], [[">>> 1", "... 2", "... 3"], 0]);
});

Deno.test("Screen finds its first row again after the window got narrower", () => {
  const output: string[] = [];
  const screen = new Screen((text) => output.push(text));
  screen.draw(view("a".repeat(30)), { columns: 40, rows: 24 });
  screen.draw(view("a".repeat(30)), { columns: 16, rows: 24 });
  // 34 columns at 16 are three rows, with the cursor on the third.
  assertEquals(output[1]!.startsWith("\x1b[2A\r\x1b[J"), true, JSON.stringify(output[1]));
});
