// Aborts an exchange that has stalled, and reads bodies under such a watch. A slow stream is not a
// stalled one: any byte restarts the time.

import { joinBytes } from "../bytes.ts";
import { RegistryError } from "./errors.ts";

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
