// Estimates in a worker: the same as here, errors with their classes, and nobody waits for them who did
// not ask.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { estimateInWorker, estimateMemory, type FileSource } from "../../../engine/memory/mod.ts";
import { GgufError } from "../../../engine/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, tinyPath } from "../harness.ts";

const sourceOf = (path: string): FileSource => ({ kind: "files", path, adapters: [] });

Deno.test("an estimate in a worker is that of this thread", async () => {
  const options = { contextLength: 100, maxSequences: 3 };
  using estimate = await estimateInWorker(sourceOf(tinyPath));
  const [first, second] = await Promise.all([estimate(options), estimate({ maxSequences: 1 })]);
  assertEquals(first, await estimateMemory(tinyPath, options));
  assertEquals(second, await estimateMemory(tinyPath, { maxSequences: 1 }));
});

Deno.test("what is wrong with a file comes out of the worker as what it is", async () => {
  using estimate = await estimateInWorker(sourceOf(`${folder}/missing.gguf`));
  await assertRejects(() => estimate({}), Error, "missing.gguf");
  const path = `${folder}/layers.gguf`;
  await writeTinyLlama(path, { metadata: { "llama.block_count": { uint32: 2 ** 32 - 1 } } });
  using other = await estimateInWorker(sourceOf(path));
  await assertRejects(
    () => other({}),
    GgufError,
    "llama.block_count: 4294967295, but the file has",
  );
});

Deno.test("this thread goes on while an estimate is made", async () => {
  using estimate = await estimateInWorker(sourceOf(tinyPath));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const before = turns;
  await Promise.all(Array.from({ length: 20 }, (_, i) => estimate({ contextLength: 64 + i })));
  clearInterval(timer);
  // Here each estimate would take some ten milliseconds, and none of them would let a timer through.
  assert(turns - before >= 10, `the timer of this thread had ${turns} turns`);
});

/** The workers that are started while work runs. */
async function startedBy(work: () => Promise<void>): Promise<number> {
  const { Worker } = globalThis;
  let started = 0;
  globalThis.Worker = class extends Worker {
    constructor(module: string | URL, options?: WorkerOptions) {
      started++;
      super(module, options);
    }
  };
  try {
    await work();
  } finally {
    globalThis.Worker = Worker;
  }
  return started;
}

Deno.test("many estimates at once share few workers, for one model and for several", async () => {
  const options = { contextLength: 100, maxSequences: 3 };
  const other = `${folder}/other-size.gguf`;
  await writeTinyLlama(other, { layers: 1 });
  const expected = new Map(
    await Promise.all(
      [tinyPath, other].map(async (path) => [path, await estimateMemory(path, options)] as const),
    ),
  );
  const plan = async (path: string) => {
    using estimate = await estimateInWorker(sourceOf(path));
    assertEquals(await estimate(options), expected.get(path));
  };
  const broken = async () => {
    using estimate = await estimateInWorker(sourceOf(`${folder}/missing.gguf`));
    await assertRejects(() => estimate(options), Error, "missing.gguf");
  };
  const same = await startedBy(async () =>
    void await Promise.all(Array.from({ length: 16 }, () => plan(tinyPath)))
  );
  assertEquals(same, 1);
  const mixed = await startedBy(async () => {
    const plans = Array.from({ length: 8 }, (_, index) => plan(index % 2 ? tinyPath : other));
    await Promise.all([...plans, broken(), ...Array.from({ length: 4 }, () => plan(tinyPath))]);
  });
  assert(mixed <= 2, `${mixed} workers`);
});
