// The one place where the server meets the engine's machinery (workers, device) and this process.

import {
  type ChatModel,
  estimateAhead,
  examineInWorker,
  type FileSource,
  gpuProfile,
  inspectModel,
  isGpuFaster,
  loadModel,
  type LoadOptions,
  measurePerplexity,
  measureReadBandwidth,
  type ModelProfile,
  openModelInProcess,
  openModelInWorker,
  type OpenOptions,
  profileModel,
  type ProfileOptions,
  proveModel,
  readMemoryBudget,
  startWorkerAhead,
  tuneDevice,
  usableProjector,
} from "../../engine/mod.ts";
import { MODEL_PROCESS } from "./commands/define_serve.ts";
import type { CliDependencies } from "./dependencies.ts";
import { systemTerminal } from "./terminal/terminal.ts";

/** The dependencies of the commands outside of tests. */
export function systemDependencies(): CliDependencies {
  return {
    open: openModel,
    inspect: inspectModel,
    memory: {
      estimate: estimateAhead,
      startAhead: startWorkerAhead,
      budget: readMemoryBudget,
      isGpuFaster,
    },
    device: {
      examine: (proof) => examineInWorker({}, proof),
      describe: async () => (await gpuProfile()).description,
      readBandwidth: measureReadBandwidth,
      prove: async ({ path, adapters }, proof) =>
        await proveModel(path, { proof, adapters: adapters.map((path) => ({ path })) }),
      tune: (folder, onKernel) => tuneDevice({ folder }, (_, done, all) => onKernel(done, all)),
    },
    profile,
    perplexity,
    spawn,
    terminal: systemTerminal(),
    environment: Deno.env.toObject(),
    fetch: globalThis.fetch,
  };
}

/** Profiles the model of these files in this thread. */
async function profile(
  source: FileSource,
  load: LoadOptions,
  options: ProfileOptions,
): Promise<ModelProfile> {
  const adapters = source.adapters.map((path) => ({ path }));
  await using model = await loadModel(source.path, { ...load, adapters });
  return await profileModel(model, options);
}

/** Measures a text with the model of these files in this thread. */
const perplexity: NonNullable<CliDependencies["perplexity"]> = async (
  models,
  load,
  text,
  options,
) => {
  const open = async ({ path, adapters }: FileSource) =>
    await loadModel(path, { ...load, adapters: adapters.map((path) => ({ path })) });
  await using model = await open(models.source);
  await using against = models.against && await open(models.against);
  return await measurePerplexity(model, text, { ...options, ...(against && { against }) });
};

/** Runs a program at this terminal. */
async function spawn(
  program: string,
  args: string[],
  variables: Record<string, string>,
): Promise<number> {
  const streams = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const;
  const child = new Deno.Command(program, { args, env: variables, ...streams }).spawn();
  return (await child.status).code;
}

/** Loads the files of a model in a worker, or in a process of its own. */
async function openModel(
  source: FileSource,
  { isolated, ...options }: OpenOptions,
): Promise<ChatModel> {
  const adapters = [...source.adapters.map((path) => ({ path })), ...options.adapters ?? []];
  const projector = await usableProjector(source);
  const all = { ...options, ...projector, adapters };
  if (!isolated) return await openModelInWorker(source.path, all);
  const command = Deno.build.standalone ? [Deno.execPath(), MODEL_PROCESS] : undefined;
  return await openModelInProcess(source.path, { ...all, ...(command && { command }) });
}
