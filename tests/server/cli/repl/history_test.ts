// The file of what has been typed, over several runs.

import { dirname } from "node:path";
import { assertEquals } from "@std/assert";
import { History } from "../../../../server/cli/repl/line_editor.ts";

async function inFolder(work: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(`${folder}/.quern/history`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("History keeps texts over runs, each on a line that only the owner reads", () =>
  inFolder(async (path) => {
    const first = await History.load(path);
    assertEquals(first.entries, []);
    const texts = ["one", "two\nlines", "C:\\new", "日本"];
    for (const text of [...texts, "日本", " "]) await first.add(text);
    assertEquals((await History.load(path)).entries, texts);
    assertEquals(await Deno.readTextFile(path), "one\ntwo\\nlines\nC:\\\\new\n日本\n");
    if (Deno.build.os !== "windows") {
      assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
      assertEquals((await Deno.stat(dirname(path))).mode! & 0o777, 0o700);
    }
  }));

Deno.test("History keeps the newest 1000 texts", () =>
  inFolder(async (path) => {
    await (await History.load(path)).add("first");
    const lines = Array.from({ length: 1200 }, (_, index) => `text ${index}\n`);
    await Deno.writeTextFile(path, lines.join(""), { append: true });
    const history = await History.load(path);
    assertEquals([history.entries.length, history.entries[0]], [1000, "text 200"]);
    await history.add("last");
    assertEquals([history.entries.length, history.entries.at(-1)], [1000, "last"]);
    assertEquals((await Deno.readTextFile(path)).split("\n").length, 1002);
    if (Deno.build.os !== "windows") assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  }));

Deno.test("two runs beside each other lose nothing", () =>
  inFolder(async (path) => {
    const [one, other] = [await History.load(path), await History.load(path)];
    await one.add("a");
    await other.add("b");
    await one.add("c");
    assertEquals((await History.load(path)).entries, ["a", "b", "c"]);
  }));

Deno.test("History keeps nothing while it is off, and needs no file", () =>
  inFolder(async (path) => {
    const history = new History(path, [], false);
    await history.add("secret");
    history.enabled = true;
    await history.add("open");
    assertEquals([history.entries, await Deno.readTextFile(path)], [["open"], "open\n"]);
    const memory = new History();
    await memory.add("x");
    assertEquals(memory.entries, ["x"]);
  }));
