// Wakes the host shortly before the device is done with a submit, where reading it blocks the thread.
// Steps of steady decoding take the same time, so the end of a submit can be told. Until then the thread
// serves messages and new requests; what follows is planned and recorded just before the device needs
// it, so that it includes them, and the processor still has the code for it in its caches after the read.

/** Milliseconds before the end at which the host wakes, before it is known how long recording takes. */
const FIRST_LEAD = 6;

/** The longest lead. Where a submit is shorter than the lead, the host does not sleep. */
const MOST_LEAD = 100;

/** Milliseconds that a read should block after all that: timers are 1 ms early or late. */
const WANTED_WAIT = 2;

/** Where a read takes less, the device may have been done before. */
const LEAST_WAIT = 0.5;

/** The lead changes by this share of what a read blocked too long. */
const CORRECTION = 1 / 32;

/** By how much the lead shrinks with each submit that it leaves no time to sleep in. */
const FORGETTING = 0.99;

/** Sleeps below are not worth a timer. */
const LEAST_SLEEP = 1;

/** The last submits of which the fastest tells the time of the next one: others may have been held up. */
const REMEMBERED = 8;

/** As many have to be seen before the host sleeps. */
const NEEDED = 3;

/** A submit under way, as far as its end can be told from it. */
export interface TimedSubmit {
  /** Sequences that decode in it; undefined for any other step than one of steady decoding. */
  readonly sequences: number | undefined;
  /** Steps in it. */
  readonly repeats: number;
  /** When the device got it, in milliseconds of the clock. */
  readonly began: number;
}

/** What tells the time, in milliseconds. */
export interface AlarmClock {
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

const CLOCK: AlarmClock = {
  now: () => performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** The alarm of a model's submits. */
export class SubmitAlarm {
  readonly #clock: AlarmClock;
  /** Milliseconds of a step in the last submits, the latest first, and how many sequences decoded. */
  #times: readonly number[] = [];
  #sequences: number | undefined;
  #lead = FIRST_LEAD;
  /** Whether the host slept during the submit that runs. */
  #hasSlept = false;

  constructor(clock: AlarmClock = CLOCK) {
    this.#clock = clock;
  }

  /** Sleeps until shortly before the submit ends; not at all if that cannot be told. */
  async sleep({ sequences, repeats, began }: TimedSubmit): Promise<void> {
    this.#hasSlept = false;
    if (sequences !== this.#sequences || this.#times.length < NEEDED) return;
    const end = began + Math.min(...this.#times) * repeats;
    const milliseconds = end - this.#lead - this.#clock.now();
    if (milliseconds < LEAST_SLEEP) {
      // On a machine that was too busy to wake in time, it is tried again later.
      this.#lead = Math.max(FIRST_LEAD, this.#lead * FORGETTING);
      return;
    }
    this.#hasSlept = true;
    await this.#clock.sleep(milliseconds);
  }

  /** Notes that a submit has ended. @param wait milliseconds that the read blocked */
  ended({ sequences, repeats, began }: TimedSubmit, wait: number): void {
    if (sequences !== this.#sequences) this.#times = [];
    this.#sequences = sequences;
    if (sequences === undefined) return;
    this.#times = [(this.#clock.now() - began) / repeats, ...this.#times].slice(0, REMEMBERED);
    if (!this.#hasSlept) return;
    if (wait < LEAST_WAIT) this.#lead = Math.min(MOST_LEAD, 2 * this.#lead);
    // A longer wait than the lead means that steps have become slower.
    else this.#lead -= (Math.min(wait, this.#lead) - WANTED_WAIT) * CORRECTION;
  }
}
