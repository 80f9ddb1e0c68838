// Time for the manager: a clock that tests can set, whose delays can be longer than timers hold, and waits
// for work that may stall.

import { untilAborted } from "../async.ts";

/** Longest delay that timers can hold: 24.8 days. A longer delay ends after this time. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The time in milliseconds, as an interface, so that tests need not wait. */
export interface Clock {
  now(): number;
  /** Calls back once after the delay; the returned function cancels it. */
  schedule(callback: () => void, milliseconds: number): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(callback, milliseconds) {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};

/** How long work may go without progress. */
export interface StallOptions {
  clock: Clock;
  milliseconds: number;
  /** Creates the error with which a stalled wait ends. */
  error: () => Error;
  /** Aborting it ends the wait and the work. */
  signal: AbortSignal;
}

/**
 * Runs work that calls `progress` as it goes on. If it does not for too long, the work's signal is
 * aborted and the call fails at once, even if the work goes on.
 *
 * @param late receives the result of work that finished after its wait had failed
 */
export async function untilStalled<T>(
  work: (progress: () => void, signal: AbortSignal) => Promise<T>,
  late: (result: T) => void,
  { clock, milliseconds, error, signal }: StallOptions,
): Promise<T> {
  const stalled = new AbortController();
  let cancel = () => {};
  const progress = () => {
    cancel();
    if (stalled.signal.aborted) return;
    cancel = clock.schedule(() => stalled.abort(error()), milliseconds);
  };
  progress();
  const result = work(progress, AbortSignal.any([signal, stalled.signal]));
  try {
    return await untilAborted(result, stalled.signal);
  } catch (failure) {
    if (stalled.signal.aborted) result.then(late, () => {});
    throw failure;
  } finally {
    cancel();
  }
}
