// The requests that are being answered, by their ids, so that others can say something to them while
// they run.

/** Ids that clients may give their requests. */
const ID = /^[\w.:-]{1,128}$/;

/** The generations that run now. */
export class RunningRequests {
  readonly #running = new Map<string, AbortController>();

  /**
   * Enters a request under the id that its client wants, or under another one where that is none or
   * taken. Disposing of it takes it out.
   */
  enter(wanted: string | undefined): RunningRequest {
    const isFree = wanted !== undefined && ID.test(wanted) && !this.#running.has(wanted);
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
