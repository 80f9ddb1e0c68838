// The bound on requests that wait: for a model to load, for a place in the batch, for their first
// token. When it is reached, further requests are refused at once instead of kept until their clients
// give up.

import { HttpError } from "../errors.ts";

/** Counts the requests that wait. */
export class WaitingQueue {
  readonly #limit: number;
  #waiting = 0;

  /** @param limit most requests that wait at the same time */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Requests that wait. */
  get length(): number {
    return this.#waiting;
  }

  /**
   * Takes a place, given back by disposal.
   *
   * @throws {HttpError} 503 if there is none
   */
  enter(): Disposable {
    if (this.#waiting >= this.#limit) {
      throw new HttpError(503, "server busy, please try again.  maximum pending requests exceeded");
    }
    this.#waiting++;
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.#waiting--;
        isTaken = false;
      },
    };
  }
}
