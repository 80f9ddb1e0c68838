// The application on a real store with the tiny models `tiny` (ChatML) and `plain` (no template), over
// fake models that run nothing: what the routes of model management are tested on.

import { createModel, inspectModel, ModelManager, ModelStore } from "../../engine/mod.ts";
import type { ModelSource } from "../../engine/mod.ts";
import type { StoreOptions } from "../../engine/store/types.ts";
import { createApp } from "../../server/http/app.ts";
import type { AppOptions } from "../../server/http/app_types.ts";
import { writeTinyLlama } from "../tiny_model.ts";
import { checkAnswers } from "./http/api/check_answers.ts";
import { FakeModel } from "./fake_model.ts";

/** An application, its store, and what can be watched of both. */
export interface StoreApp {
  app: ReturnType<typeof createApp>;
  store: ModelStore;
  manager: ModelManager;
  folder: string;
  /** What was loaded, in order. */
  loads: { source: ModelSource; model: FakeModel }[];
  /** Sends a JSON body. */
  send(method: string, path: string, body: unknown): Promise<Response>;
  /** Sends a JSON body by POST and gives the answer, which has to be of status 200. */
  ask(path: string, body: unknown): Promise<Record<string, unknown>>;
}

const files = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(files, { recursive: true }));
await writeTinyLlama(`${files}/tiny.gguf`);
await writeTinyLlama(`${files}/plain.gguf`, { seed: 2, template: "" });

/** Path of one of the models' files. */
export function tinyFile(name: "tiny" | "plain"): string {
  return `${files}/${name}.gguf`;
}

/** Builds an application. Its folder goes with the process, unless it is given one, as it is. */
export async function createStoreApp(
  options: Partial<AppOptions> = {},
  storeOptions: Partial<StoreOptions> = {},
): Promise<StoreApp> {
  const folder = storeOptions.folder ?? await createFolder();
  const store = new ModelStore({ folder, inspect: inspectModel, ...storeOptions });
  for (const model of storeOptions.folder ? [] : ["plain", "tiny"] as const) {
    const { digest } = await store.blobs.put(await Deno.readFile(tinyFile(model)));
    const request = { model, files: { [`${model}.gguf`]: digest } };
    const { signal } = new AbortController();
    await Array.fromAsync(createModel(store, request, { signal }));
  }
  const loads: StoreApp["loads"] = [];
  const manager = new ModelManager({
    store,
    async open(source, { contextLength = 4096 }) {
      const info = source.kind === "files" ? await inspectModel(source.path) : {};
      loads.push({ source, model: new FakeModel({ info, contextLength }) });
      return loads.at(-1)!.model;
    },
  });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const app = checkAnswers(createApp({ store, manager, log, version: "0", ...options }));
  const send: StoreApp["send"] = async (method, path, body) =>
    await app.request(path, { method, body: JSON.stringify(body) });
  const ask: StoreApp["ask"] = async (path, body) => {
    const response = await send("POST", path, body);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const text = await response.text();
    return text === "" ? {} : JSON.parse(text);
  };
  return { app, store, manager, folder, loads, send, ask };
}

async function createFolder(): Promise<string> {
  const folder = await Deno.makeTempDir();
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  return folder;
}
