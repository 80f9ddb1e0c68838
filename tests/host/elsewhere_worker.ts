// A worker from which Deno and Node are taken away before it imports the engine, as if it ran in a
// browser. It imports modules and gives their errors, or runs a model from its bytes and gives what it
// says, or tries what needs Deno and gives the errors.

// Deno needs itself to load packages of npm, which a bundle has in it.
import "../../engine/dependencies.ts";
import type { ChatModel } from "../../mod.ts";
import type { Answers } from "./rehearsal.ts";

// deno-lint-ignore no-explicit-any
const world = globalThis as any;
const TAKEN = ["Deno", "process", "Buffer", "global", "setImmediate", "clearImmediate"];
for (const name of TAKEN) delete world[name];

/** What it is to do: import modules, run a model, or, with a path, fail at that. */
export interface Order {
  modules?: string[];
  bytes?: Uint8Array;
  path?: string;
}

world.onmessage = async ({ data }: MessageEvent<Order>) => {
  const there = TAKEN.filter((name) => name in world);
  if (there.length > 0) throw new Error(`Cannot be elsewhere: ${there} is still there`);
  const { modules = [], bytes, path } = data;
  if (path !== undefined) world.postMessage(await fail(path, bytes!));
  else world.postMessage(bytes ? await run(bytes) : await importAll(modules));
};

async function importAll(modules: string[]): Promise<string[]> {
  const errors: string[] = [];
  for (const module of modules) {
    await import(module).catch((error) => errors.push(`${module}: ${error}`));
  }
  return errors;
}

async function run(bytes: Uint8Array): Promise<Answers> {
  const { loadTiny, rehearse } = await import("./rehearsal.ts");
  return await rehearse(await loadTiny(await import("../../engine/mod.ts"), bytes));
}

async function fail(path: string, bytes: Uint8Array): Promise<string[]> {
  const { filesInMemory, loadModel, openModelInWorker } = await import("../../engine/mod.ts");
  // As in a page that is not isolated from others.
  delete world.SharedArrayBuffer;
  const files = filesInMemory({ [path]: bytes });
  const onCpu = (threads?: number) => () =>
    loadModel(path, { files, device: { kind: "cpu", ...(threads && { threads }) } });
  const withoutWorkers = () => {
    delete world.Worker;
    return openModelInWorker(path);
  };
  const ways = [() => loadModel(path), onCpu(), onCpu(2), withoutWorkers];
  const told = (model: ChatModel) => model.close().then(() => model.device ?? "");
  const said: string[] = [];
  for (const way of ways) said.push(await way().then(told, String));
  return said;
}
