// What a model in a worker says that it holds: as much as one in this process, also after it grew.

import { assert, assertEquals } from "@std/assert";
import { type ChatModel, loadModel, openModelInWorker } from "../../../engine/mod.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";

Deno.test("the memory that a worker tells of is true after calls that made it grow", async () => {
  const growth = async (model: ChatModel) => {
    const before = model.memory;
    await readAnswer(model.generate({ prompt: "Hi", maxTokens: 2, temperature: 0, logprobs: 3 }));
    return [before, model.memory];
  };
  await using local = await loadModel(tinyPath, tinyLoad);
  await using remote = await openModelInWorker(tinyPath, tinyLoad);
  const [before, after] = await growth(local);
  assert(after!.scratch > before!.scratch, "logprobs are read through a buffer of their own");
  assertEquals(await growth(remote), [before, after]);
});
