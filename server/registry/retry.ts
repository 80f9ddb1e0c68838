// Retries work after transient errors, with exponential back-off and jitter. Retry-After is RFC
// 9110, section 10.2.3: seconds or a date.

import { RegistryError } from "./errors.ts";
import type { TransferTuning } from "./tuning.ts";

/** The options of a retry. */
export interface RetryOptions {
  tuning: TransferTuning;
  signal: AbortSignal;
  /**
   * A number that grows with the progress of the work. After progress the count of retries starts
   * anew.
   */
  progress?: () => number;
  /**
   * For how many milliseconds a server that cannot be reached is retried. Default: as after other
   * errors.
   */
  reach?: number;
}

/**
 * The result of `work`, tried again after errors that are marked transient.
 *
 * @throws {RegistryError} the last error, once the retries are used up
 */
export async function withRetries<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { tuning, signal, progress = () => 0, reach = Infinity } = options;
  const started = performance.now();
  let failures = 0;
  for (;;) {
    const before = progress();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RegistryError) || !error.transient) throw error;
      if (progress() > before) failures = 0;
      if (++failures > tuning.retries) throw giveUp(error, failures);
      const wait = waitFor(error, failures, tuning);
      const isTooLate = performance.now() - started + wait > reach;
      if (error.unreachable && isTooLate) throw giveUp(error, failures);
      await delay(wait, signal);
    }
  }
}

/** Milliseconds of a Retry-After header; undefined if there is none, or it cannot be parsed. */
export function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const milliseconds = /^\s*\d+\s*$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.now();
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}

function waitFor(error: RegistryError, failures: number, tuning: TransferTuning): number {
  const doubled = tuning.firstDelay * 2 ** (failures - 1);
  // A factor between 0.5 and 1.5, so that streams that broke together do not retry together.
  const backoff = Math.min(doubled, tuning.longestDelay) * (0.5 + Math.random());
  const { retryAfter = 0 } = error;
  if (retryAfter > tuning.longestRetryAfter) {
    throw new RegistryError(
      `${error.message}: the server asks to wait ${Math.ceil(retryAfter / 1000)} seconds; ` +
        `try again then`,
      { ...facts(error), cause: error },
    );
  }
  return Math.max(backoff, retryAfter);
}

function giveUp(error: RegistryError, attempts: number): RegistryError {
  return new RegistryError(
    `${error.message} (given up after ${attempts} attempt${
      attempts === 1 ? "" : "s"
    } without progress)`,
    { ...facts(error), cause: error },
  );
}

function facts({ status }: RegistryError): { status?: number } {
  return status === undefined ? {} : { status };
}

/** Resolves after a number of milliseconds; rejects with the signal's reason once it is aborted. */
export function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
