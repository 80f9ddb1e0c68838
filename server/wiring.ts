// The one place where the server meets the engine's machinery (workers, GPU) and this process.

import {
  type ChatModel,
  estimateInWorker,
  examineGpu,
  type FileSource,
  inspectModel,
  type LoadOptions,
  measureReadBandwidth,
  openModelInWorker,
  readMemoryBudget,
  usableProjector,
} from "../engine/mod.ts";
import type { CliDependencies } from "./commands/dependencies.ts";
import { systemTerminal } from "./terminal/terminal.ts";

/** What the commands work with outside of tests. */
export function systemDependencies(): CliDependencies {
  return {
    open: openModel,
    inspect: inspectModel,
    memory: { estimate: estimateInWorker, budget: readMemoryBudget },
    gpu: { examine: examineGpu, readBandwidth: measureReadBandwidth },
    terminal: systemTerminal(),
    environment: Deno.env.toObject(),
    fetch: globalThis.fetch,
  };
}

/** Loads the files of a model in a worker. */
async function openModel(source: FileSource, options: LoadOptions): Promise<ChatModel> {
  const adapters = [...source.adapters.map((path) => ({ path })), ...options.adapters ?? []];
  const projector = await usableProjector(source);
  return await openModelInWorker(source.path, { ...options, ...projector, adapters });
}
