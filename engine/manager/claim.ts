// Who has a say in the options of a load besides its window. They only decide how fast answers come.
// So one request that names some must not decide for all that follow, and two clients that want
// different ones must not have the model loaded anew for each of their requests.

/**
 * Milliseconds for which options that are named again and again are kept for requests that name
 * none.
 */
const HOLD = 5 * 60_000;

/**
 * The claim of requests that name options on the load that they got. A load with named options gives
 * way to a request that names none, unless one that named them is at work. Where they are named again
 * soon after that, the next load with them stays until nobody has named them for a while.
 */
export class Claim {
  /** Requests at work that named options. */
  #users = 0;
  #heldUntil = -Infinity;
  /** Time at which such a load last gave way. */
  #gaveWayAt: number;

  /**
   * The claim on a load that takes the place of another.
   *
   * @param before the claim on that one
   */
  constructor(now: number, before?: Claim) {
    this.#gaveWayAt = before ? before.#gaveWayAt : -Infinity;
    if (now - this.#gaveWayAt < HOLD) this.#heldUntil = now + HOLD;
  }

  /** A request that names options is at work, until the result is disposed of. */
  enter(now: number): Disposable {
    this.#users++;
    if (this.#heldUntil > now) this.#heldUntil = now + HOLD;
    return { [Symbol.dispose]: () => void this.#users-- };
  }

  /** Whether the load stays as it is, although a request names none of its options. */
  stays(now: number): boolean {
    return this.#users > 0 || this.#heldUntil > now;
  }

  /** The load gives way to one without its options. */
  giveWay(now: number): void {
    this.#gaveWayAt = now;
    this.#heldUntil = -Infinity;
  }
}
