// The end of a server's work: from `begin` on, new requests are sent away, and those that run have
// until somebody stops waiting for them. The middleware tells it of every request, from its first byte
// to the end of its answer; who asks how the server is does not keep it from stopping.

import type { MiddlewareHandler } from "../dependencies.ts";
import { HttpError } from "./errors.ts";
import type { AccessVariables } from "./middleware/access_log.ts";

/** Counts the requests that run, and can be closed to new ones. */
export class Drain {
  #running = 0;
  #begun = false;
  readonly #idle = Promise.withResolvers<void>();

  /** Whether new requests are sent away. */
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

  /** Sends new requests away, and settles when the last of the old ones is done. */
  begin(): Promise<void> {
    this.#begun = true;
    this.#settle();
    return this.#idle.promise;
  }

  #settle(): void {
    if (this.#begun && this.#running === 0) this.#idle.resolve();
  }
}

const ALWAYS_ANSWERED = ["/", "/health"];

/** Middleware that answers 503 once draining has begun. */
export function drainGuard(drain: Drain): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    if (ALWAYS_ANSWERED.includes(context.req.path)) return await next();
    const place = drain.enter();
    try {
      await next();
    } finally {
      const leave = () => place[Symbol.dispose]();
      const { generation } = context.var;
      if (generation) void generation.ended.then(leave);
      else leave();
    }
  };
}
