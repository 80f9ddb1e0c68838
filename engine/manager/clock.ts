// Time for the manager: delays that can be longer than timers hold, and a clock that tests can set.

/** Longest delay that timers can hold: 24.8 days. A longer delay ends after this time. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The time in milliseconds, as an interface, so that tests need not wait. */
export interface Clock {
  now(): number;
  /** Calls back once after the delay; the returned function cancels it. */
  schedule(callback: () => void, milliseconds: number): () => void;
}

/** The clock of the system. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(callback, milliseconds) {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};
