// What the tests of making models share: a store in a folder that goes with the process, files in it
// as blobs, and everything that a creation told.

import { inspectModel } from "../../../engine/load/inspect.ts";
import { createModel } from "../../../engine/create/mod.ts";
import type { CreateProgress, CreateRequest, Pull } from "../../../engine/create/mod.ts";
import { ModelStore } from "../../../engine/store/mod.ts";

/** A new, empty store. */
export async function createStore(): Promise<{ store: ModelStore; folder: string }> {
  const folder = await Deno.makeTempDir();
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  return { store: new ModelStore({ folder, inspect: inspectModel }), folder };
}

/** Puts a file into the store and gives its digest. */
export async function upload(store: ModelStore, path: string | URL): Promise<string> {
  return (await store.blobs.put(await Deno.readFile(path))).digest;
}

/** Makes a model and gives what was told, records of the same status as one. */
export async function make(
  store: ModelStore,
  request: CreateRequest,
  pull?: Pull,
): Promise<string[]> {
  const { signal } = new AbortController();
  const records = await Array.fromAsync(
    createModel(store, request, { signal, ...pull && { pull } }),
  );
  return statusesOf(records);
}

/** The statuses, those that follow each other without change as one. */
export function statusesOf(records: readonly CreateProgress[]): string[] {
  const statuses = records.map(({ status }) => status);
  return statuses.filter((status, index) => status !== statuses[index - 1]);
}
