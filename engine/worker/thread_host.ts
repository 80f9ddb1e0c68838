// The thread of a model, seen from its client, and threads that are started before they are needed.
// worker.ts is the other side.

import { startCpuThread } from "../../kernels/mod.ts";
import type { HostListener, ModelHost, ToClient, ToWorker } from "./protocol.ts";

/** Asks for a thread that computes for the model's thread, and takes its messages from a port. */
export interface ThreadRequest {
  kind: "thread";
  port: MessagePort;
}

/**
 * A thread that takes the messages of a model's client. It starts further threads for the model, because
 * they begin a second later if the model's thread starts them (kernels/cpu/thread.ts).
 */
export class ThreadHost implements ModelHost {
  readonly #worker: Worker;
  /** Threads that compute for the model. They end by themselves when the model closes. */
  readonly #helpers: Worker[] = [];

  /** @param worker a worker that was just made */
  constructor(worker: Worker) {
    this.#worker = worker;
  }

  send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  listen({ receive, crash }: HostListener): void {
    const onerror = (event: ErrorEvent) => {
      event.preventDefault();
      crash(event.message);
    };
    this.#worker.onmessage = ({ data }: MessageEvent<ToClient | ThreadRequest>) => {
      if (data.kind !== "thread") return receive(data);
      const helper = startCpuThread();
      helper.onerror = onerror;
      helper.postMessage(data.port, [data.port]);
      this.#helpers.push(helper);
    };
    this.#worker.onerror = onerror;
  }

  end(): void {
    for (const thread of [this.#worker, ...this.#helpers]) thread.terminate();
  }
}

/** Milliseconds that a thread which was started ahead waits for its load. */
const LONGEST_AHEAD = 10_000;

/** The thread that was started ahead, and the timer that ends it. */
let ahead: { worker: Worker; timer: ReturnType<typeof setTimeout> } | undefined;

/**
 * Starts the thread of the next load early, because a thread takes a quarter of a second to read
 * its modules. The caller can meanwhile find out what the load needs. The thread ends by itself if
 * no load comes soon.
 */
export function startWorkerAhead(): void {
  if (ahead) return;
  const worker = makeWorker();
  const drop = () => {
    clearTimeout(timer);
    if (ahead?.worker === worker) ahead = undefined;
    worker.terminate();
  };
  const timer = setTimeout(drop, LONGEST_AHEAD);
  // The load will start another thread, which reports the error.
  worker.onerror = (event) => {
    event.preventDefault();
    drop();
  };
  ahead = { worker, timer };
}

/** The thread that was started ahead if there is one, else a new one. */
export function takeWorker(): Worker {
  if (!ahead) return makeWorker();
  const { worker, timer } = ahead;
  ahead = undefined;
  clearTimeout(timer);
  return worker;
}

function makeWorker(): Worker {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}
