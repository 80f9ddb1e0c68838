// Which words of a prompt are text files.

import { assertEquals } from "@std/assert";
import { readTexts, withTexts } from "../../../../server/cli/repl/files.ts";

Deno.test("readTexts() reads the texts that a prompt names, and says which it does not", async () => {
  const home = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${home}/folder/below`, { recursive: true });
    for (const name of ["notes.txt", "my notes.md", "Makefile", "a.png", "it's.txt"]) {
      await Deno.writeTextFile(`${home}/folder/${name}`, name);
    }
    await Deno.writeTextFile(`${home}/report.csv`, "report.csv");
    await Deno.writeFile(`${home}/folder/noise.bin`, new Uint8Array([0xff, 0xfe, 0]));
    await Deno.writeFile(`${home}/folder/zeros`, new Uint8Array(8));
    await Deno.writeFile(`${home}/folder/long.txt`, new Uint8Array(2 ** 20 + 1).fill(32));
    const cases: [prompt: string, contents: string[], unread?: string[]][] = [
      ["What is this?", []],
      ["Sum up ./notes.txt", ["notes.txt"]],
      ["Is ./notes.txt, or (./Makefile) right? ./notes.txt!", ["notes.txt"]],
      ["compare ./Makefile ../report.csv ~/report.csv", ["Makefile", "report.csv", "report.csv"]],
      ["What is in ./notes.txt?", ["notes.txt"]],
      ['see "./my notes.md" now', ["my notes.md"]],
      ["see './my notes.md' now", ["my notes.md"]],
      ["see ./my\\ notes.md", ["my notes.md"]],
      ["see './it'\\''s.txt'", ["it's.txt"]],
      [`see '${home}/folder/notes.txt'`, ["notes.txt"]],
      // Words as they stand in questions and logs; what is no file; what is attached otherwise.
      [`at ${home}/folder/notes.txt:12`, []],
      [`what does ${home}/folder/notes.txt do?`, []],
      ["notes.txt and ./missing.txt and ./below and ./a.png", []],
      ["http://example.com/./notes.txt and a/./notes.txt", []],
      ["see ./noise.bin ./zeros ./long.txt", [], ["./noise.bin", "./zeros", "./long.txt"]],
    ];
    for (const [prompt, contents, unread = []] of cases) {
      const found = await readTexts(prompt, home, `${home}/folder`);
      assertEquals(found.texts.map(({ content }) => content), contents, prompt);
      assertEquals(found.unread.map(({ path }) => path), unread, prompt);
    }
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("withTexts() puts texts before the prompt, each under its name", () => {
  assertEquals(
    withTexts("Why?", [{ path: "./a", content: "1" }, { path: "./b", content: "2" }]),
    "--- ./a ---\n1\n--- end of ./a ---\n\n--- ./b ---\n2\n--- end of ./b ---\n\nWhy?",
  );
});
