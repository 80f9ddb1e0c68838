// A thread of a pool: takes items of the step's operations until there are none, phase after phase,
// and sleeps between steps. Kernels come as modules by message, which it only hears where it is told
// to listen.

import { advance, OPERATION_WORDS, OPERATIONS, Task, waitForChange, Word } from "./control.ts";
import { type Kernel, PANEL, panelMemory } from "./modules.ts";
import { IMPORTS } from "./wasm/mod.ts";

/** What a pool tells a thread first. */
export interface ThreadOptions {
  control: Int32Array<SharedArrayBuffer>;
  threads: number;
}

/** A module of kernels, its exports in the order of their names. */
export interface ModuleMessage {
  module: WebAssembly.Module;
  memories: Record<string, WebAssembly.Memory>;
}

type Message = ThreadOptions | ModuleMessage | "serve";

const scope = self as unknown as Worker & { close(): void };
const kernels: Kernel[] = [];
const panel = panelMemory();
let options: ThreadOptions;

scope.onmessage = ({ data }: MessageEvent<Message>) => {
  if (data === "serve") return serve();
  if ("module" in data) return load(data);
  options = data;
  scope.postMessage("ready");
};

function load({ module, memories }: ModuleMessage): void {
  const { control } = options;
  try {
    const imports = { ...memories, [PANEL]: panel };
    const { exports } = new WebAssembly.Instance(module, { [IMPORTS]: imports });
    for (const name of Object.keys(exports).sort()) kernels.push(exports[name] as Kernel);
  } catch (error) {
    Atomics.add(control, Word.Faults, 1);
    scope.postMessage({ fault: String(error) });
  }
  advance(control, Word.Loaded);
}

/** Does what is commanded until it is to listen or to close. */
function serve(): void {
  const { control, threads } = options;
  let seen = Atomics.load(control, Word.Done);
  while (true) {
    waitForChange(control, Word.Command, seen);
    seen++;
    const task = Atomics.load(control, Word.Task);
    if (task === Task.Run) run(control, threads);
    else if (arrive(control, threads)) advance(control, Word.Done);
    if (task === Task.Listen) return;
    if (task === Task.Close) return scope.close();
  }
}

function run(control: Int32Array, threads: number): void {
  const phases = Atomics.load(control, Word.Phases);
  let operation = OPERATIONS;
  for (let phase = 0; phase < phases; phase++) {
    try {
      operation = runPhase(control, operation, phase);
    } catch (error) {
      Atomics.add(control, Word.Faults, 1);
      Atomics.store(control, Word.Abort, 1);
      scope.postMessage({ fault: String(error) });
    }
    const turn = Atomics.load(control, Word.Phase);
    if (!arrive(control, threads)) waitForChange(control, Word.Phase, turn);
    else if (phase === phases - 1) advance(control, Word.Done);
  }
}

/** Counts this thread in; the last one lets all go on. */
function arrive(control: Int32Array, threads: number): boolean {
  if (Atomics.add(control, Word.Arrived, 1) !== threads - 1) return false;
  Atomics.store(control, Word.Arrived, 0);
  advance(control, Word.Phase);
  return true;
}

/** Takes items of each operation of the phase; returns where the next phase begins. */
function runPhase(control: Int32Array, from: number, phase: number): number {
  let at = from;
  for (; Atomics.load(control, at + 5) === phase; at += OPERATION_WORDS) {
    const [kernel, record] = [kernels[control[at]], control[at + 1]];
    const [items, grain] = [control[at + 2], control[at + 3]];
    while (Atomics.load(control, Word.Abort) === 0) {
      const first = Atomics.add(control, at + 4, grain);
      if (first >= items) break;
      kernel(record, first, Math.min(items, first + grain));
    }
  }
  return at;
}
