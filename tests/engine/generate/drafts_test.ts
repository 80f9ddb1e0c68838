// Drafts change how fast an answer comes, never what it says: greedy or drawn, alone or among others.

import { type GenerateEvent, loadModel } from "../../../engine/mod.ts";
import { readAnswer } from "../harness.ts";
import { assert, assertEquals } from "@std/assert";

const path = new URL("../../../engine/box/quern-tiny.gguf", import.meta.url);

/** Texts that go on as they began. */
const TEXTS = [
  "one two three four five six seven one two three four five six seven one two three",
  '{"name": "Ada", "age": 36}, {"name": "Ada", "age": 36}, {"name": "Ada", "age"',
  "The river runs to the sea. The river runs to the sea. The river runs",
  "A text about a mill and the miller, which says nothing twice",
];

function answer(events: AsyncIterable<GenerateEvent>) {
  return readAnswer(events);
}

Deno.test("an answer is the same with drafts and without", async () => {
  await using model = await loadModel(path, { contextLength: 512, maxSequences: 4 });
  const limits = { maxTokens: 60, ignoreEnd: true };
  const all = TEXTS.flatMap((prompt) => [
    { ...limits, prompt, temperature: 0 },
    { ...limits, prompt, temperature: 0.7, seed: 5 },
    { ...limits, prompt, temperature: 1, seed: 6, repeatPenalty: 1.1 },
  ]);
  let accepted = 0;
  const together = await Promise.all(all.map((request) => answer(model.generate(request))));
  for (const [i, request] of all.entries()) {
    const plain = await answer(model.generate({ ...request, draftTokens: 0 }));
    const alone = await answer(model.generate(request));
    assertEquals(plain.done!.usage.draftedTokens, undefined);
    assertEquals(alone.tokens, plain.tokens);
    assertEquals(together[i].tokens, plain.tokens);
    accepted += alone.done!.usage.acceptedTokens ?? 0;
  }
  assert(accepted > 0, `${accepted} of the drafted tokens came`);
});
