// What the layers above host do where there is neither Deno nor Node.

import { assertEquals } from "@std/assert";
import { BOX_MODEL } from "../../engine/mod.ts";
import * as library from "../../mod.ts";
import type { Order } from "./elsewhere_worker.ts";
import { type Answers, loadTiny, rehearse } from "./rehearsal.ts";
import { listSourceFiles, PROJECT_ROOT } from "../source_files.ts";

/** Modules that run something as they are imported: threads, which hear messages. */
const THREADS = /(?:^|_)worker\.ts$/;

/** Does something with a worker that has neither Deno nor Node, which answers once. */
async function elsewhere<Answer>(order: Order): Promise<Answer> {
  const worker = new Worker(new URL("./elsewhere_worker.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(event.message));
  };
  worker.postMessage(order);
  try {
    return await promise;
  } finally {
    worker.terminate();
  }
}

Deno.test("every module of host, kernels, tokenizer and engine can be imported without Deno", async () => {
  const modules = listSourceFiles([".ts"])
    .filter((path) => /^(?:host|kernels|tokenizer|engine)\//.test(path) && !THREADS.test(path))
    .map((path) => new URL(path, PROJECT_ROOT).href);
  assertEquals(modules.length > 600, true);
  assertEquals(await elsewhere<string[]>({ modules }), []);
});

Deno.test("without Deno quern:tiny answers from memory as it does here", async () => {
  const bytes = await Deno.readFile(BOX_MODEL.path);
  const answers = await rehearse(await loadTiny(library, bytes));
  assertEquals(answers.chat.includes("quern:tiny"), true, answers.chat);
  assertEquals(await elsewhere<Answers>({ bytes }), answers);
});

Deno.test("without Deno files and several threads are errors that say so, and one thread computes", async () => {
  const { path } = BOX_MODEL;
  const said = await elsewhere<string[]>({ path, bytes: await Deno.readFile(path) });
  assertEquals(said.map((text) => text.replace(/, int8.*/, "")), [
    "HostError: Cannot use files by their paths: a browser has none",
    "CPU, 1 thread (this page is not cross-origin isolated)",
    "GpuError: Cannot use 2 threads of the CPU: this page is not cross-origin isolated",
    "HostError: Cannot start a worker: there are none here",
  ]);
});
