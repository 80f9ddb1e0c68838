// Turns of work that wants the GPU for itself for a while, such as the reading of an image: whoever
// drives the GPU gives them between two steps, so that they wait for no answer to end.

import { untilAborted } from "../async.ts";

interface Turn {
  begin(): void;
  refuse(error: Error): void;
  ended: Promise<void>;
}

/** Those who wait for a turn, in order. */
export class Turns {
  #waiting: Turn[] = [];

  /** Whether somebody waits. */
  get areWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Runs work when its turn has come. Errors: its own; that of `refuse`; the signal's reason. */
  async take<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
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
   * Gives a turn to all who wait now, one after the other. Whoever wants another one waits until the
   * next time, so that steps come in between.
   */
  async give(): Promise<void> {
    for (const turn of this.#waiting.splice(0)) {
      turn.begin();
      await turn.ended;
    }
  }

  /** Sends all away who wait. */
  refuse(error: Error): void {
    for (const turn of this.#waiting.splice(0)) turn.refuse(error);
  }
}
