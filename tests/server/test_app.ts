// The application on a real manager, over fake models: everything but the port and the GPU.

import { createApp } from "../../server/http/app.ts";
import type { AppOptions } from "../../server/http/app_types.ts";
import { KeyRing } from "../../server/keys/mod.ts";
import { RemoteModels } from "../../server/remote/mod.ts";
import { ModelNotFoundError } from "../../engine/errors.ts";
import { ModelManager } from "../../engine/manager/mod.ts";
import type { ModelStore, StoreEntry } from "../../engine/store/mod.ts";
import type { LoadOptions } from "../../engine/types/mod.ts";
import { checkAnswers } from "./http/api/check_answers.ts";
import { FakeModel, type FakeModelOptions } from "./fake_model.ts";

/** The keys of a server that has one. */
export function ringOf(ownerKey: string): KeyRing {
  return new KeyRing({ ownerKey, warn: () => {} });
}

/** An application under test and what can be watched of it. */
export interface TestApp {
  app: ReturnType<typeof createApp>;
  manager: ModelManager;
  /** Models in the order in which they were loaded. */
  loaded: FakeModel[];
  loads: { path: string; options: LoadOptions }[];
  lines: string[];
  /** Sends a JSON body and gives the response. */
  post(path: string, body: unknown): Promise<Response>;
}

/** Builds an application with the models `tiny:latest` (chat template) and `story:latest` (none). */
export function createTestApp(
  model: FakeModelOptions = {},
  options: Partial<AppOptions> = {},
): TestApp {
  const loaded: FakeModel[] = [];
  const loads: TestApp["loads"] = [];
  const lines: string[] = [];
  const entries = [
    entryOf("tiny", { ...model, info: { ...model.info } }),
    entryOf("story", {
      info: { hasChatTemplate: false },
    }),
  ];
  const remote = new RemoteModels();
  const store = {
    async find(name: string) {
      const found =
        entries.find((entry) => entry.name === name || entry.name === `${name}:latest`) ??
          await remote.find(name);
      if (!found) throw new ModelNotFoundError(name);
      return found;
    },
    list: () => Promise.resolve(entries),
    digest: (entry: StoreEntry) => Promise.resolve(`d${entry.name.length}`),
  } as unknown as ModelStore;
  const manager = new ModelManager({
    store,
    open(source, loadOptions) {
      const { info } = entries.find((entry) => entry.source === source)!;
      const path = source.kind === "files" ? source.path : source.model;
      loads.push({ path, options: loadOptions });
      const { contextLength = model.contextLength } = loadOptions;
      loaded.push(new FakeModel({ ...model, info, ...(contextLength && { contextLength }) }));
      return Promise.resolve(loaded.at(-1)!);
    },
  });
  const write = (text: string) => void lines.push(text);
  const log = { debug: write, info: write, warn: write, error: write };
  const app = checkAnswers(createApp({ store, manager, log, version: "1.2.3", ...options }));
  const post = async (path: string, body: unknown) =>
    await app.request(path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { app, manager, loaded, loads, lines, post };
}

/** The records of an NDJSON body, each line of which must be one. */
export async function readLines(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

function entryOf(name: string, { info }: FakeModelOptions): StoreEntry {
  const full = new FakeModel({ ...(info && { info }) }).info;
  return {
    name: `${name}:latest`,
    source: { kind: "files", path: `/models/${name}.gguf`, adapters: [] },
    defaults: { parameters: {}, messages: [], license: [] },
    size: full.fileSize,
    modified: new Date("2026-08-21T10:00:00.123Z"),
    info: full,
  };
}
