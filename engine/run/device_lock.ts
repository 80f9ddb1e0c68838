// A lock on the device, for work that must not run beside a step, such as encoding an image. The
// scheduler, which submits all steps, grants it between two steps.

import { untilAborted } from "../async.ts";

interface Holder {
  begin(): void;
  refuse(error: Error): void;
  ended: Promise<void>;
}

/** The lock, with a queue of waiting work. */
export class DeviceLock {
  #waiting: Holder[] = [];

  /** Whether work waits for the lock. */
  get isWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Runs work while it holds the lock. Errors: its own; that of `refuse`; the signal's reason. */
  async hold<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    begun.promise.catch(() => {}); // Nobody awaits it if the signal came first.
    this.#waiting.push({ begin: begun.resolve, refuse: begun.reject, ended: ended.promise });
    try {
      await untilAborted(begun.promise, signal);
      return await work();
    } finally {
      ended.resolve();
    }
  }

  /**
   * Grants the lock to all work that waits now, one after the other. Work that is added meanwhile waits
   * for the next call, so that steps run in between.
   */
  async grantAll(): Promise<void> {
    for (const holder of this.#waiting.splice(0)) {
      holder.begin();
      await holder.ended;
    }
  }

  /** Rejects all waiting work. */
  refuse(error: Error): void {
    for (const holder of this.#waiting.splice(0)) holder.refuse(error);
  }
}
