// Concurrent work: a bound on how much runs at the same time, and one failure that ends all of it.

/** A semaphore: bounds how many run at the same time, first come, first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param count how many may run at the same time */
  constructor(count: number) {
    this.#free = count;
  }

  /** Runs `work` as soon as fewer than that many run. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/**
 * Works on all items, at most `limit` at once. The first failure aborts the signal of the others,
 * and is thrown once these have ended, so that no work goes on afterwards.
 */
export async function forEachParallel<T>(
  items: readonly T[],
  limit: number,
  parent: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([parent, failure.signal]);
  const queue = items.values();
  const runLane = async () => {
    for (const item of queue) {
      signal.throwIfAborted();
      await work(item, signal);
    }
  };
  const lanes = Array.from(
    { length: Math.min(limit, items.length) },
    () =>
      runLane().catch((error) => {
        failure.abort(error);
      }),
  );
  await Promise.all(lanes);
  signal.throwIfAborted();
}
