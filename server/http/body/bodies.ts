// Request bodies in memory: how large one may be, how much all may hold together, how long one may
// take to come. What is held counts until the request is over, for what has been made of a body
// lives as long.

import { decoded } from "./content_encoding.ts";
import { HttpError } from "../errors.ts";

/** Largest request body: several images in base64 fit. */
export const MAX_BODY_BYTES = 32 * 2 ** 20;
/** What all bodies may hold together: eight of the largest. */
export const MAX_HELD_BYTES = 256 * 2 ** 20;
/** Not counted of each body, so that small requests pass while large ones hold all there is. */
const FREE_BYTES = 64 * 2 ** 10;
/** How long a body may take to come, in milliseconds: the largest at 1 Mbit/s. */
const MAX_BODY_MILLISECONDS = 300_000;

/** What the bodies of all requests hold. */
export class BodyBudget {
  readonly #limit: number;
  #held = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#held;
  }

  /** @throws {HttpError} 503 if there are not so many left */
  take(bytes: number): void {
    if (this.#held + bytes > this.#limit) {
      throw new HttpError(503, "server busy: the request bodies that it holds take all the room");
    }
    this.#held += bytes;
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** What one request may have, and has, of the budget. Disposal gives it back. */
export class BodyAllowance implements Disposable {
  readonly #budget: BodyBudget;
  #size = 0;
  #held = 0;

  /** @param maxBytes largest body */
  constructor(budget: BodyBudget, readonly maxBytes: number) {
    this.#budget = budget;
  }

  /**
   * Counts further bytes as held.
   *
   * @throws {HttpError} 503 if there is no room for them
   */
  hold(bytes: number): void {
    const size = this.#size + bytes;
    const held = Math.max(0, size - FREE_BYTES);
    this.#budget.take(held - this.#held);
    this.#size = size;
    this.#held = held;
  }

  [Symbol.dispose](): void {
    this.#budget.give(this.#held);
    this.#size = this.#held = 0;
  }
}

/**
 * The whole body of a request, as it was before it was compressed.
 *
 * @throws {HttpError} 413, 503, 408 for one that is too large, has no room, takes too long; 400 for one
 *   that ends too early; what `decoded` throws
 */
export async function readBody(request: Request, allowance: BodyAllowance): Promise<Uint8Array> {
  const { maxBytes } = allowance;
  const until = performance.now() + MAX_BODY_MILLISECONDS;
  let bytes = new Uint8Array(Math.min(Number(request.headers.get("content-length")), FREE_BYTES));
  let size = 0;
  for await (const chunk of decoded(request)) {
    if (size + chunk.length > maxBytes) throw tooLarge(maxBytes);
    if (performance.now() > until) {
      throw new HttpError(408, "the request body did not come in time");
    }
    allowance.hold(chunk.length);
    if (size + chunk.length > bytes.length) {
      // In few large steps: what is not written yet takes no memory, what is copied takes time.
      const grown = new Uint8Array(Math.min(maxBytes, 8 * (size + chunk.length)));
      grown.set(bytes.subarray(0, size));
      bytes = grown;
    }
    bytes.set(chunk, size);
    size += chunk.length;
  }
  return bytes.subarray(0, size);
}

/** The error of a body over the bound. */
export function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `the request body is larger than ${maxBytes} bytes`);
}
