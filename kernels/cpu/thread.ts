// How the threads of pools are started. In Deno 2.9.6 the worker of a worker begins a second late,
// because it waits there for a debugger. So a worker can have the main thread start its threads, with
// which it then talks through ports (engine/worker).

import { startWorker } from "../workers/start_worker.ts";

/** A thread that takes messages, from where it was started: a worker, or the port of one. */
export interface Thread {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
  /** Called if the thread fails; a port is not told. */
  onerror?: ((event: ErrorEvent) => void) | null;
  /** Ends a worker. What a port leads to ends by itself. */
  terminate?(): void;
  close?(): void;
}

/** The answer in place of a thread's that the system has no room for. */
export interface ThreadRefusal {
  /** The message of the ResourceError. */
  refused: string;
}

/** Starts a thread of a pool as a worker of the calling thread. Errors: ResourceError. */
export function startCpuThread(): Worker {
  return startWorker(new URL("./worker.ts", import.meta.url), "Cannot start a thread of the CPU");
}

/** Tells a pool, through the port that it was given, that its thread could not be started. */
export function refuseCpuThread(port: MessagePort, { message: refused }: Error): void {
  port.postMessage({ refused } satisfies ThreadRefusal);
}

let starter: () => Thread = startCpuThread;

/** Has the pools of this thread start their threads in another way. */
export function startCpuThreadsBy(start: () => Thread): void {
  starter = start;
}

/** Starts a thread in the way that was set. */
export function newThread(): Thread {
  return starter();
}
