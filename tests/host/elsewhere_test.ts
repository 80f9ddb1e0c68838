// What the layers above host do where there is neither Deno nor Node.

import { assertEquals } from "@std/assert";
import { listSourceFiles, PROJECT_ROOT } from "../source_files.ts";

/** Modules that run something as they are imported: threads, which hear messages. */
const THREADS = /(?:^|_)worker\.ts$/;

Deno.test("every module of host, kernels, tokenizer and engine can be imported without Deno", async () => {
  const modules = listSourceFiles([".ts"]).filter((path) =>
    ["host", "kernels", "tokenizer", "engine"].includes(path.split("/")[0]!) && !THREADS.test(path)
  );
  const worker = new Worker(new URL("./elsewhere_worker.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.postMessage(modules.map((path) => new URL(path, PROJECT_ROOT).href));
  try {
    assertEquals(await promise, []);
  } finally {
    worker.terminate();
  }
});
