// The order in which requests begin. If a thousand came at once and all began together, nobody else
// would be served until each has had its part of the event loop. Here one begins in each turn of the
// event loop, after new connections were accepted. Urgent requests do not come here.

/** How many turns of the event loop with new connections may pass before the next request begins. */
const MOST_ARRIVALS = 8;

/** Lets requests begin one after the other. */
export class StartQueue {
  readonly #nextTask: () => Promise<void>;
  #last = Promise.resolve();
  #waiting = 0;
  #arrivals = 0;

  /** @param nextTask settles in a later turn of the event loop */
  constructor(nextTask: () => Promise<void>) {
    this.#nextTask = nextTask;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Notes that a connection was accepted: more may follow, with urgent requests. */
  arrive(): void {
    this.#arrivals++;
  }

  /** Settles when the caller's request may begin, in the order of the calls. */
  wait(): Promise<void> {
    this.#waiting++;
    return this.#last = this.#last.then(async () => {
      await this.#acceptOthers();
      this.#waiting--;
    });
  }

  async #acceptOthers(): Promise<void> {
    for (let passed = 0; passed < MOST_ARRIVALS; passed++) {
      const before = this.#arrivals;
      await this.#nextTask();
      if (this.#arrivals === before) return;
    }
  }
}
