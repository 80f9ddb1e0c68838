// A model's thread, seen from its client: a host that takes its messages, and threads that are started
// before they are needed (worker.ts is the other side).

import type { HostListener, ModelHost, ToWorker } from "./protocol.ts";

/** A thread that takes the messages of a model's client. */
export class ThreadHost implements ModelHost {
  readonly #worker: Worker;

  /** Takes the messages of one that was just made. */
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

/** How long a thread that was started ahead waits for its load, in milliseconds. */
const LONGEST_AHEAD = 10_000;

/** A thread that was started ahead, and the timer that ends it. */
let ahead: { worker: Worker; timer: ReturnType<typeof setTimeout> } | undefined;

/**
 * Starts the thread of the next load, for whoever has something to find out before it: a thread takes a
 * quarter of a second to read its modules. It ends by itself if no load comes soon.
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
  // The load starts another one then, which says what is wrong.
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
