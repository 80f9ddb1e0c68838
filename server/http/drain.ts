// Graceful shutdown: once draining has begun, new requests are refused, and those that run may come to
// their end. The middleware counts every request from its first byte to the end of its answer, except
// those that only ask whether the server is alive.

import type { MiddlewareHandler } from "../dependencies.ts";
import { HttpError } from "./errors.ts";
import { type AccessVariables, whenAnswered } from "./middleware/variables.ts";

/** The requests that run, and whether new ones are refused. */
export class Drain {
  #running = 0;
  #begun = false;
  readonly #idle = Promise.withResolvers<void>();

  /** Whether new requests are refused. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Requests that run, the streams of their answers included. */
  get running(): number {
    return this.#running;
  }

  /**
   * Counts a request as running until disposal.
   *
   * @throws {HttpError} 503 once draining has begun
   */
  enter(): Disposable {
    if (this.#begun) throw new HttpError(503, "the server is shutting down");
    this.#running++;
    return {
      [Symbol.dispose]: () => {
        this.#running--;
        this.#settle();
      },
    };
  }

  /** Refuses new requests from now on, and settles when the last of the running ones has ended. */
  begin(): Promise<void> {
    this.#begun = true;
    this.#settle();
    return this.#idle.promise;
  }

  #settle(): void {
    if (this.#begun && this.#running === 0) this.#idle.resolve();
  }
}

const ALWAYS_ANSWERED = ["/", "/health", "/health/live", "/health/ready"];

/** Middleware that answers 503 once draining has begun. */
export function drainGuard(drain: Drain): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    if (ALWAYS_ANSWERED.includes(context.req.path)) return await next();
    const place = drain.enter();
    try {
      await next();
    } finally {
      whenAnswered(context, () => place[Symbol.dispose]());
    }
  };
}
