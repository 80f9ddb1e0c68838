// The thread of a model, seen from its client, and threads that are started before they are needed.
// worker.ts is the other side.

import type { HostListener, ModelHost, ToWorker } from "./protocol.ts";

/** A thread that takes the messages of a model's client. */
export class ThreadHost implements ModelHost {
  readonly #worker: Worker;

  /** @param worker a worker that was just made */
  constructor(worker: Worker) {
    this.#worker = worker;
  }

  send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  listen({ receive, crash }: HostListener): void {
    this.#worker.onmessage = ({ data }) => receive(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      crash(event.message);
    };
  }

  end(): void {
    this.#worker.terminate();
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
