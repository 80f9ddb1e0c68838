// Waiting for work that may stall. If the work makes no progress for too long, the wait ends with
// an error, whether the work stops or not.

import { untilAborted } from "../async.ts";
import type { Clock } from "./clock.ts";

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
