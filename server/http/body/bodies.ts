// Request bodies in memory: how large one may be, how much all may take together, how long one may
// take to arrive. A body counts until its request is over, because what was made of it lives as long.

import { decoded } from "./content_encoding.ts";
import { HttpError } from "../errors.ts";

/** Largest request body: several images in base64 fit. */
export const MAX_BODY_BYTES = 32 * 2 ** 20;
/** Most bytes of all bodies together: eight of the largest. */
export const MAX_HELD_BYTES = 256 * 2 ** 20;
/**
 * Bytes of each body that are not counted, so that small requests pass while large ones fill the
 * budget.
 */
const FREE_BYTES = 64 * 2 ** 10;
/**
 * How long a body may take to arrive, in milliseconds: as long as the largest one takes at 1
 * Mbit/s.
 */
const MAX_BODY_MILLISECONDS = 300_000;

/** The memory that the bodies of all requests may take together. */
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

  /** @throws {HttpError} 503 if fewer are left */
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

/**
 * The part of the budget that one request has taken, and the most that it may take. Disposal gives
 * it back.
 */
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
 * The whole body of a request, decompressed.
 *
 * @throws {HttpError} 503 if the budget has no room for it; and what `bodyPieces` throws
 */
export async function readBody(request: Request, allowance: BodyAllowance): Promise<Uint8Array> {
  const { maxBytes } = allowance;
  let bytes = new Uint8Array(Math.min(Number(request.headers.get("content-length")), FREE_BYTES));
  let size = 0;
  for await (const chunk of bodyPieces(request, maxBytes)) {
    allowance.hold(chunk.length);
    if (size + chunk.length > bytes.length) {
      // The buffer grows in few large steps: copying takes time, and pages that nobody has written
      // take no memory.
      const grown = new Uint8Array(Math.min(maxBytes, 8 * (size + chunk.length)));
      grown.set(bytes.subarray(0, size));
      bytes = grown;
    }
    bytes.set(chunk, size);
    size += chunk.length;
  }
  return bytes.subarray(0, size);
}

/**
 * The body of a request as it arrives, decompressed.
 *
 * @param maxBytes the most that it may have
 * @throws {HttpError} 413 if it is too large, 408 if it takes too long, 400 if it ends too early; and what
 *   `decoded` throws
 */
export async function* bodyPieces(
  request: Request,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let until = performance.now() + MAX_BODY_MILLISECONDS;
  let size = 0;
  for await (const chunk of decoded(request)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    // What is larger than any body in memory has more time, at the same rate.
    if (size > MAX_BODY_BYTES) until += chunk.length * MAX_BODY_MILLISECONDS / MAX_BODY_BYTES;
    if (performance.now() > until) {
      throw new HttpError(408, "the request body did not come in time");
    }
    yield chunk;
  }
}

/** The error of a body over the bound. */
export function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `the request body is larger than ${maxBytes} bytes`);
}
