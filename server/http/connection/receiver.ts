// The receiving side of a connection. It always reads ahead of its reader, up to a bound, because only
// reading shows the end of a connection: this is how the server notices that a client has left while
// its request runs. Knows no HTTP.

import { nextTask } from "../../../engine/mod.ts";

/** How far it reads ahead, in bytes: pipelined requests of usual size fit. */
const READ_AHEAD_BYTES = 256 * 2 ** 10;
/** Bytes that a read takes at most: few for the many connections that idle, more for large bodies. */
const [SMALLEST_READ, LARGEST_READ] = [4 * 2 ** 10, 64 * 2 ** 10];

/** Bytes after which the event loop continues, because reads of bytes that have arrived never wait. */
const TURN_BYTES = 2 ** 20;

/** Bytes of a connection in the order in which they came. */
export class Receiver {
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  readonly #onEnd: () => void;
  #available = 0;
  #ended = false;
  #failure: unknown;
  #arrived: PromiseWithResolvers<void> | undefined;
  #taken: PromiseWithResolvers<void> | undefined;

  /** @param onEnd called once, when the other side sends no more or the connection breaks */
  constructor(connection: { read(into: Uint8Array): Promise<number | null> }, onEnd: () => void) {
    this.#onEnd = onEnd;
    void this.#readAhead(connection);
  }

  /** Whether no more will come. What came before may still be there. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether `fail` was called. */
  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Bytes that are there. */
  get available(): number {
    return this.#available;
  }

  /**
   * Waits for more than is there.
   *
   * @returns false if no more will come
   * @throws what `fail` was given
   */
  async more(): Promise<boolean> {
    if (!this.#ended) await (this.#arrived ??= Promise.withResolvers()).promise;
    if (this.#failure) throw this.#failure;
    return !this.#ended;
  }

  /** Makes all waits for more bytes fail with this error, now and later. */
  fail(error: unknown): void {
    this.#failure = error;
    this.#arrived?.resolve();
  }

  /** All bytes that are there; they are not taken. */
  peek(): Uint8Array<ArrayBuffer> {
    if (this.#chunks.length > 1) {
      const whole = new Uint8Array(this.#available);
      let at = 0;
      for (const chunk of this.#chunks) {
        whole.set(chunk, at);
        at += chunk.length;
      }
      this.#chunks.splice(0, this.#chunks.length, whole);
    }
    return this.#chunks[0] ?? new Uint8Array();
  }

  /** Takes up to a number of the next bytes, without copying; none if there are none. */
  take(most: number): Uint8Array<ArrayBuffer> {
    const chunk = this.#chunks.shift() ?? new Uint8Array();
    const taken = chunk.subarray(0, most);
    if (taken.length < chunk.length) this.#chunks.unshift(chunk.subarray(taken.length));
    this.#available -= taken.length;
    this.#taken?.resolve();
    return taken;
  }

  async #readAhead(connection: { read(into: Uint8Array): Promise<number | null> }): Promise<void> {
    let into = new Uint8Array(SMALLEST_READ);
    let inTurn = 0;
    try {
      for (;;) {
        while (this.#available >= READ_AHEAD_BYTES) {
          this.#taken = Promise.withResolvers();
          await this.#taken.promise;
        }
        const count = await connection.read(into);
        if (count === null) break;
        this.#chunks.push(into.slice(0, count));
        this.#available += count;
        this.#arrived?.resolve();
        this.#arrived = undefined;
        if (count === into.length && count < LARGEST_READ) into = new Uint8Array(4 * count);
        inTurn += count;
        if (inTurn < TURN_BYTES) continue;
        inTurn = 0;
        await nextTask();
      }
    } catch {
      // A broken connection counts as ended.
    }
    this.#ended = true;
    this.#arrived?.resolve();
    this.#onEnd();
  }
}
