// What a model has said and its client has not read yet. A generation ends when the model is done,
// however slowly its answer is read, so the rest waits here, within bounds: of one answer, and of all
// together, where an answer that is read as it comes never counts.

import type { ChatEvent } from "../../../engine/mod.ts";
import { HttpError } from "../errors.ts";

/** The bounds in bytes, as the events lie in memory. */
export interface UnreadLimits {
  /** Most of one answer: some 100,000 tokens of text. */
  answer: number;
  /** Most of all answers together. */
  all: number;
  /** The part of each answer that does not count for all. */
  free: number;
}

const LIMITS: UnreadLimits = { answer: 16 * 2 ** 20, all: 128 * 2 ** 20, free: 64 * 2 ** 10 };

/** The memory that all unread answers take together. */
export class UnreadBudget {
  readonly limits: UnreadLimits;
  /** Bytes of all of them, without what is free. */
  held = 0;

  constructor(limits: Partial<UnreadLimits> = {}) {
    this.limits = { ...LIMITS, ...limits };
  }
}

/** The unread events of one answer: a queue with one reader. */
export class UnreadEvents {
  readonly #budget: UnreadBudget;
  #events: { event: ChatEvent; bytes: number }[] = [];
  /** Index of the next event: taking the first of a long array would move all others. */
  #at = 0;
  #bytes = 0;
  #end: { error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(budget: UnreadBudget) {
    this.#budget = budget;
  }

  /**
   * Adds an event. After the end it is dropped.
   *
   * @throws {HttpError} 503 if too much waits to be read
   */
  push(event: ChatEvent): void {
    if (this.#end) return;
    const bytes = bytesOf(event);
    const { answer, all, free } = this.#budget.limits;
    const unread = this.#bytes + bytes;
    const held = this.#budget.held + counted(unread, free) - counted(this.#bytes, free);
    if (unread > answer || (unread > free && held > all)) {
      throw new HttpError(503, `the client reads too slowly: ${this.#bytes} bytes wait for it`);
    }
    this.#events.push({ event, bytes });
    this.#resize(bytes);
    this.#wake?.();
  }

  /** Ends the queue after its events, with the error if there is one. */
  close(end: { error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake?.();
  }

  /** Drops what nobody is going to read. */
  drop(): void {
    this.#events = [];
    this.#at = 0;
    this.#resize(-this.#bytes);
    this.close();
  }

  /** @throws the error with which it was closed */
  async next(): Promise<IteratorResult<ChatEvent>> {
    while (this.#at === this.#events.length && !this.#end) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    if (this.#at === this.#events.length) {
      const { error } = this.#end!;
      if (error !== undefined) throw error;
      return { done: true, value: undefined };
    }
    const { event, bytes } = this.#events[this.#at++]!;
    this.#resize(-bytes);
    if (this.#at === this.#events.length || this.#at >= 1024) {
      this.#events.splice(0, this.#at);
      this.#at = 0;
    }
    return { done: false, value: event };
  }

  #resize(bytes: number): void {
    const { limits: { free } } = this.#budget;
    this.#budget.held += counted(this.#bytes + bytes, free) - counted(this.#bytes, free);
    this.#bytes += bytes;
  }
}

function counted(bytes: number, free: number): number {
  return Math.max(0, bytes - free);
}

/** Bytes of an object with a text and some numbers, about. */
const OBJECT = 128;

/** About how many bytes an event takes. */
function bytesOf(event: ChatEvent): number {
  switch (event.type) {
    case "text":
    case "thinking":
      return OBJECT + 2 * event.text.length +
        (event.logprobs ?? []).reduce((sum, { top, mask }) => {
          const listed = top.length +
            (mask ? mask.topAllowed.length + mask.topForbidden.length : 0);
          return sum + OBJECT * (1 + listed);
        }, 0);
    case "callArguments":
      return OBJECT + 2 * event.json.length;
    case "callEnd":
      return OBJECT + 4 * JSON.stringify(event.arguments).length;
    case "done":
      return OBJECT + 8 * (event.context?.length ?? 0);
    default:
      return OBJECT;
  }
}
