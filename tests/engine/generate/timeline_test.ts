// The steps that ran for an answer.

import { assert, assertEquals } from "@std/assert";
import {
  type DoneEvent,
  type GenerateRequest,
  loadModel,
  type Model,
} from "../../../engine/mod.ts";
import { Timeline } from "../../../engine/generate/timeline.ts";
import { folder } from "../harness.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

const path = `${folder}/timeline.gguf`;
await writeTinyLlama(path, { context: 2048 });

async function doneOf(
  model: Model,
  request: Omit<GenerateRequest, "prompt"> & { prompt: number[] },
) {
  let done: DoneEvent | undefined;
  const all = { temperature: 0, ignoreEnd: true, draftTokens: 0, ...request };
  for await (const event of model.generate(all)) if (event.type === "done") done = event;
  return done!;
}

Deno.test("a timeline has every step of an answer once, in order, and only where it is asked for", async () => {
  const device = { kind: "cpu", threads: 1 } as const;
  await using model = await loadModel(path, { device, contextLength: 512, maxSequences: 2 });
  const prompt = Array.from({ length: 100 }, (_, i) => 33 + (i * 7) % 90);
  assertEquals((await doneOf(model, { prompt, maxTokens: 3 })).timeline, undefined);
  const before = Date.now();
  const other = prompt.map((token) => token + 1);
  const { timeline = [], usage } = await doneOf(model, {
    prompt: other,
    maxTokens: 40,
    timeline: true,
  });
  const sum = (prefill: boolean) =>
    timeline.filter((span) => span.prefill === prefill).reduce(
      (sum, { tokens }) => sum + tokens,
      0,
    );
  assertEquals(sum(true), usage.promptTokens - usage.cachedTokens);
  assertEquals(sum(false), usage.completionTokens - 1, "the first token comes with the prompt");
  assert(timeline.every(({ sequences }) => sequences === 1));
  timeline.reduce((end, { began, milliseconds }) => {
    assert(began >= end - 0.01 && milliseconds >= 0, `${began} after ${end}`);
    return began + milliseconds;
  }, before);
  const [first, second] = await Promise.all(
    [1, 2].map((by) =>
      doneOf(model, {
        prompt: prompt.map((token) => token + 9 * by),
        maxTokens: 20,
        timeline: true,
      })
    ),
  );
  const shared = [first, second].flatMap((done) => done!.timeline!).filter((span) =>
    span.sequences === 2
  );
  assert(shared.length > 0, "two sequences share steps");
});

Deno.test("steps are told by the time of day as it is, not by what it was set to at the start", () => {
  const { now } = Date;
  Date.now = () => now() + 3_600_000;
  try {
    const timeline = new Timeline();
    const began = performance.now();
    timeline.add({ began, ended: began + 5, prefill: true, steps: 1, tokens: 1, sequences: 1 });
    assert(Math.abs(timeline.spans[0]!.began - Date.now()) < 60_000);
  } finally {
    Date.now = now;
  }
});

Deno.test("a long timeline becomes coarser, and leaves nothing out", () => {
  const timeline = new Timeline();
  timeline.add({ began: 0, ended: 5, prefill: true, steps: 1, tokens: 64, sequences: 1 });
  for (let i = 0; i < 5000; i++) {
    const sequences = i === 1234 ? 7 : 2;
    timeline.add({ began: 5 + i, ended: 6 + i, prefill: false, steps: 1, tokens: 1, sequences });
  }
  const { spans } = timeline;
  assert(spans.length > 32 && spans.length <= 128, `${spans.length}`);
  assertEquals(spans[0]!.tokens, 64);
  assertEquals(spans.slice(1).reduce((sum, { steps }) => sum + steps, 0), 5000);
  assertEquals(spans.slice(1).reduce((sum, { milliseconds }) => sum + milliseconds, 0), 5000);
  assertEquals(Math.max(...spans.map(({ sequences }) => sequences)), 7);
});
