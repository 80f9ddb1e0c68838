// Cooperative work on a thread: pauses that let the event loop run, time slices for long work,
// waits that end early when a signal is aborted, and runs that many callers share.

import { nextTask, nextTurn } from "../host/mod.ts";

export { nextTask, nextTurn };

/** Milliseconds after which work pauses. Several such works share the thread. */
const SLICE_MILLISECONDS = 8;

/** Settles in the turn of the event loop in which the last of the works that pause goes on. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * The time that work may run before others do. Of many works that pause, one goes on in each turn of
 * the event loop, so that together they hold nobody up for longer than one alone.
 */
export class TimeSlice {
  #end = performance.now() + SLICE_MILLISECONDS;

  /** Whether it is time to pause. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /**
   * Lets messages arrive and, where the slice is over, all else that is due: Deno seldom looks at sockets
   * while there are always messages.
   */
  async turn(): Promise<void> {
    await (this.isOver ? this.pause() : nextTask());
  }

  /** Lets everything else run, and begins a new slice. */
  async pause(): Promise<void> {
    // On a busy machine several timers may fire before a message that was there first, hence both.
    lastTurn = lastTurn.then(() => new Promise<void>((resolve) => setTimeout(resolve)))
      .then(nextTask);
    await lastTurn;
    this.#end = performance.now() + SLICE_MILLISECONDS;
  }
}

/**
 * Runs work that yields now and then, and pauses at a yield when its slice is over. Gives what it
 * returns.
 */
export async function inSlices<T>(work: Iterator<void, T>): Promise<T> {
  const slice = new TimeSlice();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (slice.isOver) await slice.pause();
  }
}

/** The result of the promise, or the reason of the signal if that comes first. */
export async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await promise;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort(); // The race hears the promise all the same, in case it fails later.
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Resolves after some milliseconds, or as soon as the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    resolve();
  };
  const timer = setTimeout(end, milliseconds);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  return promise;
}

/** The runs for one key: the current one, and the next one. */
interface Runs<T> {
  current: Promise<T>;
  next?: Promise<T>;
}

/**
 * Work that many callers request at once. Callers that come during a run share the next one. So
 * there are few runs, and each caller gets the result of one that began after its call.
 */
export class SharedRuns<T> {
  readonly #runs = new Map<string, Runs<T>>();

  /** The result of a run of the work. @param key the same for the same work */
  run(key: string, work: () => Promise<T>): Promise<T> {
    const runs = this.#runs.get(key);
    if (!runs) return this.#begin(key, work);
    const ended = runs.current.then(() => {}, () => {});
    return runs.next ??= ended.then(() => this.#begin(key, work));
  }

  #begin(key: string, work: () => Promise<T>): Promise<T> {
    const runs: Runs<T> = { current: work() };
    this.#runs.set(key, runs);
    const forget = () => {
      // If there is a next run, it takes the place of this one.
      if (!runs.next) this.#runs.delete(key);
    };
    runs.current.then(forget, forget);
    return runs.current;
  }
}
