// A worker thread of a pool: does its part of steps and sleeps between them. Kernels come as
// modules in messages, which it only receives when it is told to listen.

import { threadScope } from "../../host/mod.ts";
import { advance, SpinWait, Task, Word } from "./control.ts";
import { instantiate, panelMemory } from "./instances.ts";
import type { Kernel } from "./kernel.ts";
import { takeShare } from "./share.ts";

/** The first message of a pool to a thread. */
export interface ThreadOptions {
  control: Int32Array<SharedArrayBuffer>;
  /** Number of threads, including the host's, and which of them it is. */
  threads: number;
  index: number;
}

/** A module of kernels. */
export interface ModuleMessage {
  module: WebAssembly.Module;
  /** Memories that threads share. Each thread has a panel of its own. */
  memories: Record<string, WebAssembly.Memory>;
}

/** A port that is the first message is where all others come from. */
type Message = MessagePort | ThreadOptions | ModuleMessage | "serve";

const scope = threadScope();
/** Where answers go. */
let pool: { postMessage(message: unknown): void } = scope;
const kernels: Kernel[] = [];
const panel = panelMemory();
const wait = new SpinWait();
let options: ThreadOptions;
/** Number of commands that this thread has followed. */
let followed = 0;

scope.onmessage = receive;

function receive({ data }: MessageEvent<Message>): void {
  if (data instanceof MessagePort) {
    pool = data;
    data.onmessage = receive;
    return;
  }
  if (data === "serve") return serve();
  if ("module" in data) return load(data);
  options = data;
  followed = Atomics.load(options.control, Word.Command);
  pool.postMessage("ready");
}

function load({ module, memories }: ModuleMessage): void {
  try {
    kernels.push(...instantiate(module, memories, panel).values());
  } catch (error) {
    fault(error);
    Atomics.add(options.control, Word.Faults, 1);
  }
  advance(options.control, Word.Answers);
}

/** Follows commands until it has to receive messages or to end. */
function serve(): void {
  const { control, threads, index } = options;
  const thread = { control, kernels, threads, index, wait, fault };
  while (true) {
    wait.forCommand(control, followed++);
    const task = Atomics.load(control, Word.Task);
    if (task === Task.Run) takeShare(thread, false);
    if (task === Task.Listen) return;
    if (task === Task.Close) {
      advance(control, Word.Answers);
      return scope.close();
    }
  }
}

function fault(error: unknown): void {
  pool.postMessage({ fault: String(error) });
}
