// Waiting, for work on a thread that others need too: pauses that let the event loop run, time slices
// for long work, and a wait that ends early when its signal is aborted.

/** Lets messages and timers come in between. A timer of 0 ms would take a millisecond or more. */
export function nextTask(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(undefined);
  return promise;
}

/** How long others wait at most, in milliseconds; several such works share the thread. */
const SLICE_MILLISECONDS = 8;

/** The time that a work has before it has to let others have theirs. */
export class TimeSlice {
  #end = performance.now() + SLICE_MILLISECONDS;

  /** Whether it is time to pause. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets everybody else have a turn; a new slice begins. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#end = performance.now() + SLICE_MILLISECONDS;
  }
}

/** Runs work that yields now and then, and pauses there when it is time. Gives what it returns. */
export async function inSlices<T>(work: Iterator<void, T>): Promise<T> {
  const slice = new TimeSlice();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (slice.isOver) await slice.pause();
  }
}

/** The promise, or the reason of the signal if that comes first. */
export async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The runs of one key: the one under way, and the one that begins when it has ended. */
interface Runs<T> {
  current: Promise<T>;
  next?: Promise<T>;
}

/**
 * Work that many ask for at once. Who asks while a run is under way shares the next one with all others
 * who do: so there are few runs, and each gets the result of one that began after it asked.
 */
export class SharedRuns<T> {
  readonly #runs = new Map<string, Runs<T>>();

  /** What a run of the work gives, or fails with. @param key same work has the same key */
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
      // Where somebody has asked meanwhile, the next run takes its place.
      if (!runs.next) this.#runs.delete(key);
    };
    runs.current.then(forget, forget);
    return runs.current;
  }
}
