// The thread of a model, seen from its client, and threads that are started before they are needed.
// model_worker.ts is the other side.

import type { WorkerThread } from "../../host/mod.ts";
import {
  hasRoomForWorkers,
  refuseCpuThread,
  ResourceError,
  startCpuThread,
  startWorker,
  untilRoomForWorker,
} from "../../kernels/mod.ts";
import { type DisposableEstimate, estimateInWorker, type FileSource } from "../memory/mod.ts";
import type { HostListener, ModelHost, ToClient, ToWorker } from "./protocol.ts";

/** Asks for a thread that computes for the model's thread, and takes its messages from a port. */
export interface ThreadRequest {
  kind: "thread";
  port: MessagePort;
}

/**
 * A thread that takes the messages of a model's client. It starts further threads for the model, because
 * they begin a second later if the model's thread starts them (kernels/cpu/threads.ts).
 */
export class ThreadHost implements ModelHost {
  readonly #worker: WorkerThread;
  /** Threads that compute for the model. They end by themselves when the model closes. */
  readonly #helpers: WorkerThread[] = [];
  /** The error of a worker that failed before anybody listened, which may be at once. */
  #earlyError: ErrorEvent | undefined;
  #hasEnded = false;

  /** @param worker one that was made in this turn: an error that nobody hears ends the program */
  constructor(worker: WorkerThread) {
    this.#worker = worker;
    worker.onerror = (event) => {
      event.preventDefault();
      this.#earlyError = event;
    };
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
      void this.#startHelper(data.port, onerror);
    };
    this.#worker.onerror = onerror;
    if (this.#earlyError) onerror(this.#earlyError);
  }

  async #startHelper(port: MessagePort, onerror: (event: ErrorEvent) => void): Promise<void> {
    await untilRoomForWorker();
    if (this.#hasEnded) return;
    try {
      const helper = startCpuThread();
      helper.onerror = onerror;
      helper.postMessage(port, [port]);
      this.#helpers.push(helper);
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      refuseCpuThread(port, error);
    }
  }

  end(): void {
    this.#hasEnded = true;
    for (const thread of [this.#worker, ...this.#helpers]) thread.terminate();
  }
}

/** Milliseconds that a thread which was started ahead waits for its load. */
const LONGEST_AHEAD = 10_000;

/** The thread that was started ahead, and the timer that ends it. */
let ahead: { worker: WorkerThread; timer: ReturnType<typeof setTimeout> } | undefined;

/**
 * Starts the thread of the next load early, because a thread takes a quarter of a second to read
 * its modules. Until the load comes it can plan it ({@linkcode estimateAhead}). It ends by itself if no
 * load comes soon; where the system gives little, it is not started.
 */
export function startWorkerAhead(): void {
  // One more may be needed for another plan.
  if (!ahead && hasRoomForWorkers(2)) keepAhead(makeWorker());
}

function keepAhead(worker: WorkerThread): void {
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

/** Takes the thread that was started ahead; undefined if there is none. */
function takeAhead(): WorkerThread | undefined {
  if (!ahead) return undefined;
  const { worker, timer } = ahead;
  ahead = undefined;
  clearTimeout(timer);
  return worker;
}

/**
 * Estimates in the thread that was started ahead, if there is one: the load then takes the same one. Errors:
 * those of estimateInWorker().
 */
export function estimateAhead(source: FileSource): Promise<DisposableEstimate> {
  return estimateInWorker(source, () => {
    const worker = takeAhead();
    if (!worker) return undefined;
    const giveBack = () => ahead ? worker.terminate() : keepAhead(worker);
    return { worker, giveBack };
  });
}

/** The thread that was started ahead if there is one, else a new one. Errors: ResourceError. */
export async function takeThread(): Promise<ThreadHost> {
  if (!ahead) await untilRoomForWorker();
  return new ThreadHost(takeAhead() ?? makeWorker());
}

/** A thread for a model. Errors: ResourceError. */
function makeWorker(): WorkerThread {
  return startWorker(new URL("./model_worker.ts", import.meta.url), "Cannot load the model");
}
