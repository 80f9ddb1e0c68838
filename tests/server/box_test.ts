// The model in the box through the HTTP API: it is there where the store is empty, answers the question
// of the README, and does a tenth of its evaluation. Skills that it does not have yet, as its model card
// says, are measured and asked for nothing; sums that its training saw may be among those asked.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { askOverHttp } from "../../bench/box_eval.ts";
import { BOX_MODEL, evaluate } from "../../engine/box/mod.ts";
import { inspectModel, loadModel, ModelManager, ModelStore } from "../../engine/mod.ts";
import { createApp } from "../../server/app.ts";
import { createLog } from "../../server/log.ts";
import { pathOf } from "../engine/harness.ts";
import { checkAnswers } from "./check_answers.ts";

/** Least shares of the skills that the file has; twenty examples are too few to ask for the goals. */
const FLOORS: Record<string, number> = {
  about: 0.9,
  "extraction, valid JSON without a mask": 0.75,
  arithmetic: 0.8,
  language: 0.85,
};

async function withBox(test: (send: typeof fetch) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const store = new ModelStore({ folder, inspect: inspectModel, builtin: [BOX_MODEL] });
  const open: ConstructorParameters<typeof ModelManager>[0]["open"] = (source, options) =>
    loadModel(pathOf(source), { ...options, contextLength: 1024, maxSequences: 4 });
  const manager = new ModelManager({ store, open });
  const log = createLog({ write: () => {} });
  const app = checkAnswers(createApp({ store, manager, log, version: "0" }));
  try {
    await test(async (input, init) => await app.fetch(new Request(input, init)));
  } finally {
    await manager.closeAll();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the model in the box is listed in an empty store, and answers the README's question", async () => {
  await withBox(async (send) => {
    const { models } = await (await send("http://127.0.0.1/api/tags")).json();
    assertEquals(models.map(({ name }: { name: string }) => name), ["quern:tiny"]);
    assertEquals(models[0].capabilities, ["completion", "tools", "thinking"]);
    const messages = [{ role: "user" as const, content: "How do I pull a model?" }];
    const answer = await askOverHttp("http://127.0.0.1", "quern:tiny", send)({ messages });
    assertStringIncludes(answer.text ?? "", "quern pull");
  });
});

Deno.test("the model in the box has the skills that it is said to have, in a tenth of its evaluation", async () => {
  await withBox(async (send) => {
    const scores = await evaluate(askOverHttp("http://127.0.0.1", "quern:tiny", send), 20);
    for (const [skill, floor] of Object.entries(FLOORS)) {
      const { right, count } = scores.find(({ name }) => name === skill)!;
      assert(right / count >= floor, `${skill}: ${right} of ${count}`);
    }
  });
});
