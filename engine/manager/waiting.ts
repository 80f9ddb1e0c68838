// Waiting for work that may stall: without progress for too long, the wait ends with an error, whether
// the work stops or not. Time comes from a clock, so that tests need not wait.

import { untilAborted } from "../async.ts";
import type { Clock } from "./clock.ts";

/** How long work may stand still. */
export interface StallOptions {
  clock: Clock;
  milliseconds: number;
  /** The error that ends it then. */
  error: () => Error;
  /** Ends the work, too. */
  signal: AbortSignal;
}

/**
 * Runs work that calls `progress` as it goes on. Once it has not for too long its signal is aborted,
 * and the call fails whether the work obeys or not.
 *
 * @param late called with what work gives that does not obey
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
