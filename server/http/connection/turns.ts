// The order in which requests begin. A thousand that come at once would each have their part of the
// event loop before anybody else is heard; here one begins in each turn of it, those first that are
// answered at once, and new connections are accepted before the next one begins.

/** Turns of the event loop in which somebody new came that pass before the next request begins. */
const MOST_ARRIVALS = 8;

/** Lets requests begin one after the other. */
export class Turns {
  readonly #nextTask: () => Promise<void>;
  #last = Promise.resolve();
  #waiting = 0;
  #arrivals = 0;

  /** @param nextTask lets what waits in the event loop come first */
  constructor(nextTask: () => Promise<void>) {
    this.#nextTask = nextTask;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Says that a connection was accepted: more may follow, and one of them may be urgent. */
  arrive(): void {
    this.#arrivals++;
  }

  /** Settles when it is the caller's turn. Each gets one, in the order of the calls. */
  take(): Promise<void> {
    this.#waiting++;
    return this.#last = this.#last.then(async () => {
      await this.#letOthersCome();
      this.#waiting--;
    });
  }

  async #letOthersCome(): Promise<void> {
    for (let passed = 0; passed < MOST_ARRIVALS; passed++) {
      const before = this.#arrivals;
      await this.#nextTask();
      if (this.#arrivals === before) return;
    }
  }
}
