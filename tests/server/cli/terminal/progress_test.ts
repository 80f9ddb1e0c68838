// Progress as a window shows it: lines redrawn in place, fitted to the width, the cursor back at the
// end; and what a log shows instead.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { LiveLines } from "../../../../server/cli/terminal/live_lines.ts";
import { showProgress } from "../../../../server/cli/terminal/mod.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { until } from "../../../until.ts";
import { Screen } from "./screen.ts";

class ScreenTerminal extends FakeTerminal {
  override stderrIsTerminal = true;
  screen: Screen;

  constructor(columns = 80) {
    super();
    this.columns = columns;
    this.screen = new Screen(columns);
    const record = this.writeError;
    this.writeError = (text) => {
      record(text);
      this.screen.write(text);
    };
  }
}

const LAYER = { status: "pulling 7cd4618c1faf", total: 815e6 };
const OTHER = { status: "pulling 0123456789ab", total: 1000 };

Deno.test("lines of states and layers are redrawn in place", () => {
  const terminal = new ScreenTerminal();
  let now = 0;
  {
    using lines = new LiveLines(terminal, { now: () => now });
    lines.update({ status: "pulling manifest" });
    assertMatch(terminal.screen.lines[0]!, /^pulling manifest [⠋-⠿]$/);
    assert(!terminal.screen.isCursorShown);
    lines.update(LAYER);
    now = 1000;
    lines.update({ ...LAYER, completed: 351e6 });
    lines.update(OTHER);
    assertEquals(terminal.screen.lines, [
      "pulling manifest",
      "pulling 7cd4618c1faf:  43% ▕███████           ▏ 351 MB/815 MB  351 MB/s  2s",
      "pulling 0123456789ab:   0% ▕                  ▏ 0 B/1.0 KB",
    ]);
    lines.update({ ...LAYER, completed: 815e6 });
    lines.update({ status: "success" });
  }
  assertEquals(terminal.screen.lines, [
    "pulling manifest",
    "pulling 7cd4618c1faf: 100% ▕██████████████████▏ 815 MB",
    "pulling 0123456789ab:   0% ▕                  ▏ 0 B/1.0 KB",
    "success",
  ]);
  assert(terminal.screen.isCursorShown);
  assertEquals(terminal.listeners, 0);
});

Deno.test("no line wraps in a window of 20 to 80 columns", () => {
  for (let columns = 20; columns <= 80; columns++) {
    const terminal = new ScreenTerminal(columns);
    {
      using lines = new LiveLines(terminal);
      lines.update({ status: `creating new layer sha256:${"0".repeat(64)}` });
      lines.update({ ...LAYER, completed: 351e6 });
      lines.update(OTHER);
    }
    assertEquals(terminal.screen.lines.length, 3, terminal.screen.lines.join("\n"));
  }
});

Deno.test("a window made narrower is cleared of what its lines have become", () => {
  const terminal = new ScreenTerminal();
  using lines = new LiveLines(terminal);
  lines.update({ ...LAYER, completed: 351e6 });
  // The terminal has wrapped the line of 67 columns into three rows; the cursor is in the last.
  terminal.columns = 30;
  terminal.screen = new Screen(30);
  terminal.screen.write(`shell prompt\r\n${"#".repeat(67)}`);
  lines.update(OTHER);
  assertEquals(terminal.screen.lines, [
    "shell prompt",
    "pulling 7cd4618c1faf:  43%",
    "pulling 0123456789ab:   0%",
  ]);
});

Deno.test("more lines than the window has rows are shown from the end", () => {
  const terminal = new ScreenTerminal();
  terminal.rows = 4;
  using lines = new LiveLines(terminal);
  for (let index = 0; index < 9; index++) lines.update({ status: `layer ${index}`, total: 10 });
  const shown = terminal.screen.lines.map((line) => line.slice(0, 7));
  assertEquals(shown, ["layer 6", "layer 7", "layer 8"]);
});

Deno.test("a spinner turns while nothing is told", async () => {
  const terminal = new ScreenTerminal();
  using lines = new LiveLines(terminal);
  lines.update({ status: "pulling manifest" });
  const [first] = terminal.screen.lines;
  await until(() => terminal.screen.lines[0] !== first);
});

Deno.test("Ctrl-C brings the cursor back at once and ends the drawing", () => {
  const terminal = new ScreenTerminal();
  using lines = new LiveLines(terminal);
  lines.update({ ...LAYER, completed: 351e6 });
  terminal.interrupt();
  assert(terminal.screen.isCursorShown);
  const before = terminal.errors;
  lines.update(OTHER);
  assertEquals([terminal.errors, terminal.listeners], [before, 0]);
});

Deno.test("what goes away leaves an empty line with the cursor on it", () => {
  const terminal = new ScreenTerminal();
  {
    using lines = new LiveLines(terminal, { transient: true });
    lines.update({ status: "loading", completed: 5, total: 10 });
    assertMatch(terminal.screen.lines[0]!, /^loading: {2}50%/);
  }
  terminal.screen.write("x");
  assertEquals([terminal.screen.lines, terminal.screen.isCursorShown], [["x"], true]);
});

Deno.test("without a terminal, or on a dumb one, progress is plain lines, a tenth each", () => {
  const cases: [boolean, Record<string, string>][] = [[false, {}], [true, { TERM: "dumb" }]];
  for (const [isTerminal, environment] of cases) {
    const terminal = new FakeTerminal();
    terminal.stderrIsTerminal = isTerminal;
    using progress = showProgress(terminal, environment);
    progress.update({ status: "pulling manifest" });
    progress.update({ status: "pulling manifest" });
    for (let completed = 0; completed <= 1000; completed++) {
      progress.update({ ...OTHER, completed });
      progress.update({ status: "pulling b", total: 5, completed: 5 });
    }
    const tenths = Array.from(
      { length: 11 },
      (_, tenth) => `pulling 0123456789ab: ${10 * tenth}% of 1.0 KB`,
    );
    const lines = terminal.errors.trimEnd().split("\n");
    assertEquals(lines[0], "pulling manifest");
    assertEquals(lines.filter((line) => line.startsWith("pulling 0")), tenths);
    assertEquals(lines.filter((line) => line.startsWith("pulling b")), ["pulling b: 100% of 5 B"]);
    assertEquals(lines.length, 13);
  }
});
