// A lock on the device, for work that needs it to itself for a while, such as encoding an image. The
// scheduler, which submits all steps, lends it between two steps, so nobody waits for an answer to end.

import { untilAborted } from "../async.ts";

interface Holder {
  begin(): void;
  refuse(error: Error): void;
  ended: Promise<void>;
}

/** The lock, and the queue of those who want it. */
export class DeviceLock {
  #waiting: Holder[] = [];

  /** Whether somebody waits for the lock. */
  get isWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Runs work while it holds the lock. Errors: its own; that of `refuse`; the signal's reason. */
  async hold<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    begun.promise.catch(() => {}); // Nobody hears it where the signal came first.
    this.#waiting.push({ begin: begun.resolve, refuse: begun.reject, ended: ended.promise });
    try {
      await untilAborted(begun.promise, signal);
      return await work();
    } finally {
      ended.resolve();
    }
  }

  /**
   * Lends the lock to all who wait now, one after the other. Whoever wants it again waits until the
   * next time, so that steps come in between.
   */
  async lend(): Promise<void> {
    for (const holder of this.#waiting.splice(0)) {
      holder.begin();
      await holder.ended;
    }
  }

  /** Sends all away who wait. */
  refuse(error: Error): void {
    for (const holder of this.#waiting.splice(0)) holder.refuse(error);
  }
}
