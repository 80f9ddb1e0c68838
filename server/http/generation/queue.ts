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

// The requests that are being answered, by their ids, so that others can say something to them while
// they run.

/** Ids that clients may give their requests. */
const ID = /^[\w.:-]{1,128}$/;

/** The id that a client wants for its request; undefined if it names none, or one that may not be. */
export function wantedId(header: string | undefined): string | undefined {
  return header !== undefined && ID.test(header) ? header : undefined;
}

/** The generations that run now. */
export class RunningRequests {
  readonly #running = new Map<string, AbortController>();

  /**
   * Enters a request under the id that its client wants, or under another one where that is none or
   * taken. Disposing of it takes it out.
   */
  enter(header: string | undefined): RunningRequest {
    const wanted = wantedId(header);
    const isFree = wanted !== undefined && !this.#running.has(wanted);
    const id = isFree ? wanted : crypto.randomUUID();
    const answer = new AbortController();
    this.#running.set(id, answer);
    return {
      id,
      answerNow: answer.signal,
      [Symbol.dispose]: () => void this.#running.delete(id),
    };
  }

  /** Makes a request end its thinking and answer. False if none with this id runs. */
  answerNow(id: string): boolean {
    const answer = this.#running.get(id);
    answer?.abort();
    return answer !== undefined;
  }
}

/** A request that runs. */
export interface RunningRequest extends Disposable {
  readonly id: string;
  /** Aborted once somebody wants its answer now. */
  readonly answerNow: AbortSignal;
}
