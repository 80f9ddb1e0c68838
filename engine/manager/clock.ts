// Time for the manager: delays that can be longer than timers hold, and a clock that tests can set.

/** Longest delay that timers can hold; a longer one ends after these 24.8 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Time, so that tests can do without waiting. In milliseconds. */
export interface Clock {
  now(): number;
  /** Calls back once after the delay; the returned function cancels it. */
  schedule(callback: () => void, milliseconds: number): () => void;
}

/** The system's. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(callback, milliseconds) {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};
