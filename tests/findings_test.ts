// The findings of docs/findings: each is to be seen in the model in the box, which their own assertions
// check, and gives a picture; the page about them has each of them with its program.

import { assert, assertEquals } from "@std/assert";
import { FINDINGS } from "../docs/findings/list.ts";
import { loadModel } from "../mod.ts";
import { stopped } from "./clock.ts";
import { PROJECT_ROOT, readSource } from "./source_files.ts";

const path = new URL("engine/box/quern-tiny.gguf", PROJECT_ROOT);

Deno.test("every finding is to be seen in the model in the box", async (test) => {
  await using model = await loadModel(path, { contextLength: 512, maxSequences: 2 });
  // Drafts pause where they take longer than they save, which a busy machine decides by chance.
  using _clock = stopped();
  for (const [name, find] of Object.entries(FINDINGS)) {
    await test.step(name, async () => {
      const { says, picture } = await find(model, path);
      assert(says.length > 40, says);
      assert(/^<svg [^>]+>.*<\/svg>\n$/.test(picture), picture.slice(0, 200));
      assert(!/NaN|undefined|Infinity/.test(picture), "a number is missing in the picture");
      const opened = picture.match(/<text /g)!.length;
      assertEquals(picture.match(/<\/text>/g)!.length, opened);
    });
  }
});

Deno.test("the page of findings has each with its program and its picture, in order", () => {
  const page = readSource("docs/findings.md");
  const named = [...page.matchAll(/\]\(findings\/(\w+)\.ts\)/g)].map(([, name]) => name!);
  assertEquals(named, Object.keys(FINDINGS));
  const shown = [...page.matchAll(/\]\(findings\/(\w+)\.svg\)/g)].map(([, name]) => name!);
  assertEquals(shown, Object.keys(FINDINGS));
});
