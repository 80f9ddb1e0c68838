// What the tests of clients share: an application over the model in the box, which has learnt to talk,
// and tiny models with random weights, whose answers are what was asked for whatever they would say;
// and the ways to an application, by its handler and over a real port.

import { BOX_MODEL } from "../../engine/box/mod.ts";
import { inspectModel, loadModel, ModelManager, ModelStore } from "../../engine/mod.ts";
import { createApp } from "../../server/http/app.ts";
import type { AppOptions } from "../../server/http/app_types.ts";
import { HttpServer } from "../../server/http/connection/mod.ts";
import { createLog } from "../../server/log.ts";
import { folder, pathOf, tinyLoad } from "../engine/harness.ts";
import { TOOL_TEMPLATE, writeTinyLlama } from "../tiny_model.ts";
import { checkAnswers } from "./http/api/check_answers.ts";

type App = ReturnType<typeof createApp>;

/** A way for a client to reach an application: what it takes for its settings. */
export interface Way {
  /** How, for names of tests. */
  how: string;
  /** The server's address, without a slash at the end. */
  url: string;
  fetch: typeof globalThis.fetch;
}

/**
 * Builds an application with a model `tools`, which calls and thinks, a model `plain`, and the model
 * in the box, `quern:tiny`. The models go away with the process.
 *
 * @param name of a folder for the models that no other test of the process uses
 */
export async function createTinyApp(
  name: string,
  options: Partial<AppOptions> = {},
): Promise<{ app: App; manager: ModelManager }> {
  const models = `${folder}/${name}`;
  await Deno.mkdir(models);
  await writeTinyLlama(`${models}/tools.gguf`, { template: TOOL_TEMPLATE, context: 1024 });
  await writeTinyLlama(`${models}/plain.gguf`);
  return appOver(models, options);
}

/** Builds an application as a new user has it: its store is empty, and the model in the box listed. */
export async function createBoxApp(): Promise<{ app: App; manager: ModelManager }> {
  return appOver(await Deno.makeTempDir({ dir: folder }));
}

function appOver(models: string, options: Partial<AppOptions> = {}) {
  const store = new ModelStore({ folder: models, inspect: inspectModel, builtin: [BOX_MODEL] });
  const manager = new ModelManager({
    store,
    open: (source, options) =>
      loadModel(pathOf(source), {
        ...tinyLoad,
        contextLength: 1024,
        adapters: source.kind === "files" ? source.adapters.map((path) => ({ path })) : [],
        ...options,
      }),
  });
  globalThis.addEventListener("unload", () => void manager.closeAll());
  const log = createLog({ write: () => {} });
  const app = checkAnswers(createApp({ store, manager, log, version: "0", ...options }));
  return { app, manager };
}

/** The way to the application's handler. */
export function handlerWay({ app }: { app: App }): Way {
  return {
    how: "by the handler",
    url: "http://127.0.0.1:11434",
    fetch: async (input, init) => await app.fetch(new Request(input, init)),
  };
}

/** The way over a port, which is open as long as the process runs. */
export function portWay({ app }: { app: App }): Way {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const server = new HttpServer(listener, app.fetch, { log: { warn() {} } });
  server.unref();
  return { how: "over a port", url: `http://127.0.0.1:${server.addr.port}`, fetch };
}

/** Both ways. */
export function waysTo(served: { app: App }): Way[] {
  return [handlerWay(served), portWay(served)];
}
