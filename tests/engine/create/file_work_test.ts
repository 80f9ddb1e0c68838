// Making GGUF files on threads of their own: what comes out is what the functions themselves make,
// errors keep their classes, an abort ends it, and the thread that answers requests goes on.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { doFileWork } from "../../../engine/create/file_work.ts";
import { createModel, quantizeModel } from "../../../engine/create/mod.ts";
import { RequestError } from "../../../engine/errors.ts";
import { inspectModel } from "../../../engine/load/inspect.ts";
import { ModelStore } from "../../../engine/store/mod.ts";
import { threadTime } from "../../cpu_time.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const from = `${folder}/from.gguf`;
// Some 20 MB, whose Q4_K takes a second or more of arithmetic.
await writeTinyLlama(from, { embedding: 256, feedForward: 2048, layers: 3, vocabulary: 400 });
const { signal } = new AbortController();

Deno.test("doFileWork() makes what quantizeModel() makes, and tells how far it is", async () => {
  const [to, expected] = [`${folder}/thread.gguf`, `${folder}/expected.gguf`];
  const progress: number[] = [];
  const onProgress = (done: number, total: number) => progress.push(done / total);
  await doFileWork({ kind: "quantize", from, to, type: "Q8_0" }, { onProgress, signal });
  await quantizeModel({ from, to: expected, type: "Q8_0" });
  assertEquals(await Deno.readFile(to), await Deno.readFile(expected));
  assert(progress.length > 10 && progress.at(-1) === 1);
});

Deno.test("errors of the thread keep their classes", async () => {
  const quantized = `${folder}/thread.gguf`;
  const work = {
    kind: "quantize",
    from: quantized,
    to: `${folder}/no.gguf`,
    type: "Q4_0",
  } as const;
  await assertRejects(() => doFileWork(work, { signal }), RequestError, "only supported for F32");
  const convert = { kind: "convert", folder, to: `${folder}/no.gguf` } as const;
  await assertRejects(() => doFileWork(convert, { signal }), RequestError, "config.json");
});

Deno.test("an abort ends work that runs and work that waits, and leaves no file", async () => {
  const reason = new Error("changed my mind");
  // More than there are threads for.
  const attempts = Array.from({ length: navigator.hardwareConcurrency + 2 }, async (_, i) => {
    const controller = new AbortController();
    const to = `${folder}/aborted-${i}.gguf`;
    const work = { kind: "quantize", from, to, type: "Q4_K_M" } as const;
    const options = { signal: controller.signal, onProgress: () => controller.abort(reason) };
    if (i % 3 === 2) setTimeout(() => controller.abort(reason), 50);
    assertEquals(await assertRejects(() => doFileWork(work, options)), reason);
    await assertRejects(() => Deno.stat(to), Deno.errors.NotFound);
  });
  await Promise.all(attempts);
  await doFileWork({ kind: "quantize", from, to: `${folder}/again.gguf`, type: "F16" }, { signal });
});

Deno.test("while a model is quantized, requests are answered at once", async () => {
  const store = new ModelStore({ folder: `${folder}/store`, inspect: inspectModel });
  const { digest } = await store.blobs.put(await Deno.readFile(from));
  const server = Deno.serve({ port: 0, onListen: () => {} }, () => new Response("ok"));
  let made = false;
  const request = { model: "x", files: { "a.gguf": digest }, quantize: "Q4_K_M" };
  const making = Array.fromAsync(createModel(store, request, { signal }))
    .finally(() => made = true);
  // How long this thread computed while each waited.
  const waits: number[] = [];
  while (!made) {
    const started = threadTime();
    // A connection of its own, which the thread has to accept.
    const headers = { connection: "close" };
    await (await fetch(`http://127.0.0.1:${server.addr.port}`, { headers })).text();
    waits.push(threadTime() - started);
  }
  await making;
  await server.shutdown();
  assert(waits.length > 20, `${waits.length} requests were answered`);
  assert(Math.max(...waits) < 1000, `one waited for ${Math.max(...waits)} ms of work`);
});
