// The one place where workers are started. A worker that gets no files or no threads for its own event
// loop makes Deno panic, which ends the process with all its requests: so what it needs is counted
// before, in the same turn, and what is not there is an error.

import { countFreeFiles, HostError, makeWorker, type WorkerThread } from "../../host/mod.ts";
import { ResourceError } from "../errors.ts";
import { countFreeThreads } from "./system_limits.ts";

/**
 * Files that a worker has open in Deno 2.9 as long as it lives: six for its event loop and its standard
 * streams.
 */
export const FILES_OF_WORKER = 6;
/** Files that must be there beyond these: a worker reads its modules. */
const SPARE_FILES = 2;
/** Threads of a worker: its own, and one for files. */
const THREADS_OF_WORKER = 2;
/** Threads that must be there beyond these, because others that read files may need one at any time. */
const SPARE_THREADS = 2;

/** How often it is looked whether there is room again, and the time between two looks. */
const [MOST_LOOKS, LOOK_MILLISECONDS] = [100, 20];
/** How often a worker is tried that got no files, and the time between two tries. */
const [MOST_TRIES, RETRY_MILLISECONDS] = [4, 150];

/**
 * Starts a worker.
 *
 * @param module its module
 * @param purpose what is attempted, for the error: "Cannot load the model"
 * @throws {ResourceError} if the system gives too few open files or threads
 * @throws {HostError} where there are no workers
 */
export function startWorker(module: URL, purpose: string): WorkerThread {
  const lack = lackingFor(1);
  if (lack !== undefined) throw new ResourceError(`${purpose}: the system gives no more ${lack}`);
  try {
    return makeWorker(module);
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    throw new ResourceError(`${purpose}: the system starts no more threads`, { cause });
  }
}

/**
 * Waits for a moment until a worker can be started, because one that has just ended gives back what it
 * had a little later.
 */
export async function untilRoomForWorker(): Promise<void> {
  for (let looked = 0; looked < MOST_LOOKS && !hasRoomForWorkers(1); looked++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
  }
}

/**
 * Does something that starts a worker, and does it again where the worker got no files for its modules
 * although there are some again: many are read at once, and connections or other workers may have had
 * the last ones for a moment.
 *
 * @throws {ResourceError} if the system still gives too little; the errors of the work
 */
export async function withWorkerFiles<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
    try {
      return await work();
    } catch (error) {
      const isOver = !(error instanceof ResourceError) || tries === MOST_TRIES;
      if (isOver || !hasRoomForWorkers(1)) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
  }
}

/** Whether so many workers could be started now. */
export function hasRoomForWorkers(count: number): boolean {
  return lackingFor(count) === undefined;
}

/** What the system gives too little of for so many workers, in words; undefined if there is enough. */
function lackingFor(workers: number): string | undefined {
  const files = workers * FILES_OF_WORKER + SPARE_FILES;
  if (countFreeFiles(files) < files) return "open files (ulimit -n)";
  if (countFreeThreads() < workers * THREADS_OF_WORKER + SPARE_THREADS) {
    return "threads (ulimit -u, or a container's --pids-limit)";
  }
}
