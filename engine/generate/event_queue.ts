// Events from the scheduler's callbacks as an async iterator. Ending the iteration early calls
// `abandon`, so that a sequence ends when its client leaves.

/** An unbounded queue with one reader. */
export class EventQueue<T> implements AsyncIterableIterator<T> {
  readonly #events: T[] = [];
  readonly #abandon: () => void;
  #wake: (() => void) | undefined;
  #end: { error?: unknown } | undefined;

  constructor(abandon: () => void) {
    this.#abandon = abandon;
  }

  /** Adds an event. After the end of the stream it is dropped. */
  push(event: T): void {
    if (!this.#end) this.#events.push(event);
    this.#wake?.();
  }

  /** Ends the stream after the queued events, with an error if there is one. */
  close(end: { error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<T>> {
    while (this.#events.length === 0 && !this.#end) {
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = undefined;
    }
    if (this.#events.length > 0) return { done: false, value: this.#events.shift()! };
    const { error } = this.#end!;
    this.#end = {};
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<T>> {
    this.#abandon();
    this.#events.length = 0;
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
