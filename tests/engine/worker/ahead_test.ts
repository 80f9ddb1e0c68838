// The thread of a load that is started early: it plans the load and then loads, so that one cold answer
// starts one thread.

import { assertEquals, assertRejects } from "@std/assert";
import { estimateAhead, openModelInWorker, startWorkerAhead } from "../../../engine/mod.ts";
import { estimateMemory, type FileSource } from "../../../engine/memory/mod.ts";
import { folder, readAnswer, tinyLoad, tinyPath } from "../harness.ts";

const source: FileSource = { kind: "files", path: tinyPath, adapters: [] };
const alone = { ...tinyLoad, device: { kind: "cpu", threads: 1 } } as const;

/** The modules of the workers that are started while work runs. */
async function startedBy(work: () => Promise<void>): Promise<string[]> {
  const { Worker } = globalThis;
  const started: string[] = [];
  globalThis.Worker = class extends Worker {
    constructor(module: string | URL, options?: WorkerOptions) {
      started.push(new URL(module).pathname.split("/").at(-1)!);
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

/** Loads the model and has it answer. */
async function answer(): Promise<void> {
  await using model = await openModelInWorker(tinyPath, alone);
  const { tokens } = await readAnswer(
    model.generate({ prompt: "hello", maxTokens: 3, temperature: 0 }),
  );
  assertEquals(tokens.length, 3);
}

Deno.test("a load takes the thread that planned it, which is started once", async () => {
  const started = await startedBy(async () => {
    startWorkerAhead();
    startWorkerAhead();
    {
      using estimate = await estimateAhead(source);
      assertEquals(await estimate(tinyLoad), await estimateMemory(tinyPath, tinyLoad));
    }
    await answer();
  });
  assertEquals(started, ["model_worker.ts"]);
});

Deno.test("a plan that fails leaves the thread to the load", async () => {
  const started = await startedBy(async () => {
    startWorkerAhead();
    {
      const missing = { ...source, path: `${folder}/missing.gguf` };
      using estimate = await estimateAhead(missing);
      await assertRejects(() => estimate({}), Error, "missing.gguf");
    }
    await answer();
  });
  assertEquals(started, ["model_worker.ts"]);
});

Deno.test("a plan has a worker of its own where no thread was started ahead", async () => {
  const started = await startedBy(async () => {
    using estimate = await estimateAhead(source);
    await estimate(tinyLoad);
  });
  assertEquals(started, ["estimate_worker.ts"]);
});

Deno.test("a load that comes while the thread still plans another gets one of its own", async () => {
  const started = await startedBy(async () => {
    startWorkerAhead();
    {
      using estimate = await estimateAhead(source);
      const planned = estimate(tinyLoad);
      await answer();
      await planned;
    }
    // The thread of the plan waits for a load now.
    await answer();
  });
  assertEquals(started, ["model_worker.ts", "model_worker.ts"]);
});
