// The real program in a real terminal: the bar of a pull, in wide and narrow windows, Ctrl-C, and what
// it writes where there is no terminal.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { until } from "../../../until.ts";
import { type SlowServer, startSlowServer } from "./slow_server.ts";
import { NO_TMUX, program, Tmux } from "./tmux.ts";

type TerminalTest = (tmux: Tmux, server: SlowServer) => Promise<void>;

/** A test in a window of that many columns, beside a slow server. */
function terminalTest(name: string, columns: number, test: TerminalTest): void {
  const reason = NO_TMUX ? ` (${NO_TMUX})` : "";
  Deno.test({
    name: name + reason,
    ignore: NO_TMUX !== undefined,
    async fn() {
      await using server = startSlowServer();
      await using tmux = await Tmux.open(columns, { OLLAMA_HOST: server.host });
      await test(tmux, server);
    },
  });
}

/** Waits until the bar stands at 43 percent. */
const untilHalfway = (tmux: Tmux) => tmux.until((lines) => lines.some((line) => / 43%/.test(line)));

terminalTest(
  "a pull in 80 columns shows a bar with rate and remaining time",
  80,
  async (tmux, server) => {
    await tmux.type("quern pull gemma3; echo exit $?");
    const lines = await untilHalfway(tmux);
    assertEquals(lines.slice(1, -1), ["pulling manifest"]);
    assertMatch(
      lines.at(-1)!,
      /^pulling 7cd4618c1faf: {2}43% ▕█{7} {11}▏ 350 MB\/815 MB {2}[\d.]+ MB\/s +\d+s$/,
    );
    assert(!await tmux.isCursorShown());
    server.release();
    const done = await tmux.until((all) => all.includes("exit 0"));
    assertEquals(done.slice(1, -1), [
      "pulling manifest",
      "pulling 7cd4618c1faf: 100% ▕██████████████████▏ 815 MB",
      "verifying sha256 digest",
      "success",
      "exit 0",
    ]);
    assert(await tmux.isCursorShown());
  },
);

terminalTest("a pull in 30 columns keeps to a line per layer", 30, async (tmux, server) => {
  await tmux.type("clear; quern pull gemma3");
  await untilHalfway(tmux);
  server.release();
  const lines = await tmux.until((all) => all.includes("success"));
  assertEquals(lines.slice(0, 4), [
    "pulling manifest",
    "pulling 7cd4618c1faf: 100%",
    "verifying sha256 digest",
    "success",
  ]);
});

terminalTest(
  "a window resized during a pull shows the bar fitted to it, once",
  80,
  async (tmux) => {
    await tmux.type("clear; quern pull gemma3");
    await untilHalfway(tmux);
    await tmux.resize(30);
    const isNarrow = (lines: string[]) => lines.at(-1) === "pulling 7cd4618c1faf:  43%";
    assertEquals(await tmux.until(isNarrow), ["pulling manifest", "pulling 7cd4618c1faf:  43%"]);
    await tmux.resize(60);
    const lines = await tmux.until((all) => /43% ▕█+ +▏ 350 MB\/815 MB$/.test(all.at(-1)!));
    assertEquals(lines.length, 2);
  },
);

terminalTest(
  "Ctrl-C during a pull ends it with 130 and brings the cursor back",
  80,
  async (tmux, server) => {
    await tmux.type("quern pull gemma3; echo exit $?");
    await untilHalfway(tmux);
    await tmux.press("C-c");
    await tmux.until((lines) => lines.includes("exit 130"));
    assert(await tmux.isCursorShown());
    await until(() => server.wasCancelled());
  },
);

terminalTest("a pull whose errors go to a pipe writes plain lines", 80, async (tmux, server) => {
  server.release();
  await tmux.type("clear; quern pull gemma3 2>&1 | cat; echo end");
  const lines = await tmux.until((all) => all.includes("end"));
  assertEquals(lines.slice(0, -2), [
    "pulling manifest",
    ...[0, 10, 20, 30, 40, 100].map((percent) => `pulling 7cd4618c1faf: ${percent}% of 815 MB`),
    "verifying sha256 digest",
    "success",
  ]);
});

Deno.test("output into a pipe that nobody reads any more ends quietly", async () => {
  await using server = startSlowServer();
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", `{ ${program()} list; echo "exit $?" >&2; } | head -n 1`],
    env: { OLLAMA_HOST: server.host },
  }).output();
  assertMatch(new TextDecoder().decode(stdout), /^NAME +ID +SIZE +MODIFIED\n$/);
  assertEquals(new TextDecoder().decode(stderr), "exit 0\n");
});
