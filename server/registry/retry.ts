// Retries work after transient errors, with exponential back-off and jitter. Retry-After is RFC
// 9110, section 10.2.3: seconds or a date.

import { joinBytes } from "../bytes.ts";
import { RegistryError } from "./errors.ts";
import type { TransferTuning } from "./tuning.ts";

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

// An answer that is not a success as an error with the registry's own message, if the body is an
// error as registries write it. Other bodies may come from a server that is no registry, and are
// not quoted.

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);
const LONGEST_EXCERPT = 200;
/** Room for an error body with details. */
const MOST_BYTES = 16 * 1024;

/**
 * The error that such an answer stands for. Reads no more of the body than an error can take.
 *
 * @param subject what was attempted: "Cannot pull blob …"
 */
export async function statusError(response: Response, subject: string): Promise<RegistryError> {
  const { status, statusText, headers } = response;
  const said = await excerptOf(response);
  const words = [String(status), statusText].filter(Boolean).join(" ");
  const message = `${subject}: the server answered ${words}${said && `: ${said}`}`;
  const retryAfter = parseRetryAfter(headers.get("retry-after"));
  return new RegistryError(message, {
    status,
    transient: TRANSIENT.has(status),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

async function excerptOf(response: Response): Promise<string> {
  const bytes: number[] = [];
  try {
    for await (const chunk of response.body ?? []) {
      bytes.push(...chunk.subarray(0, MOST_BYTES));
      if (bytes.length >= MOST_BYTES) break;
    }
  } catch {
    // Without a readable body the status has to suffice.
  }
  const text = new TextDecoder().decode(new Uint8Array(bytes));
  return (messageIn(text) ?? "").replace(/\s+/g, " ").trim().slice(0, LONGEST_EXCERPT);
}

/** The message of `{"errors":[{"code","message"}]}` or `{"error":"…"}`. */
function messageIn(text: string): string | undefined {
  try {
    const body = JSON.parse(text);
    const first = body?.errors?.[0];
    const message = first?.message || first?.code || body?.error;
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}

// Aborts an exchange that has stalled, and reads bodies under such a watch. A slow stream is not a
// stalled one: any byte restarts the time.

/** Aborts its signal when it is not fed for a while, or when its parent is aborted. */
export class Watchdog implements Disposable {
  /** For the request that is watched. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #subject: string;
  readonly #limit: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Starts to watch.
   *
   * @param subject what is attempted, for the message: "Cannot pull blob …"
   * @param limit milliseconds without food
   */
  constructor(subject: string, limit: number, parent: AbortSignal) {
    this.#subject = subject;
    this.#limit = limit;
    this.signal = AbortSignal.any([parent, this.#controller.signal]);
    this.feed();
  }

  /** Restarts the time, because something arrived. */
  feed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#bark(), this.#limit);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #bark(): void {
    const message = `${this.#subject}: the connection stalled, nothing came for ` +
      `${this.#limit / 1000} seconds`;
    this.#controller.abort(new RegistryError(message, { transient: true }));
  }
}

/**
 * The chunks of a body as they come. Each feeds the watchdog.
 *
 * @throws {RegistryError} transient, if the connection breaks or stalls
 */
export async function* readBody(
  response: Response,
  subject: string,
  watchdog: Watchdog,
): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  const chunks = response.body.values();
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error) => {
        watchdog.signal.throwIfAborted();
        const state = `the connection broke: ${error.message}`;
        throw new RegistryError(`${subject}: ${state}`, { transient: true, cause: error });
      });
      if (done) return;
      watchdog.feed();
      yield value;
    }
  } finally {
    await chunks.return?.().catch(() => {});
  }
}

/**
 * A whole body of at most `limit` bytes.
 *
 * @throws {RegistryError} if it is longer, or the connection breaks or stalls
 */
export async function readAll(
  response: Response,
  { subject, limit, watchdog }: { subject: string; limit: number; watchdog: Watchdog },
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readBody(response, subject, watchdog)) {
    size += chunk.length;
    if (size > limit) {
      throw new RegistryError(`${subject}: the answer is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return joinBytes(chunks);
}
