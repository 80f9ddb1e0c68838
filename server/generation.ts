// One running generation: takes a place in the queue, borrows the model, hands out the events and
// gives everything back whichever way it ends: done, error, abort, or an abandoned reader.
// Knows no wire format. `start` returns with the first event at hand, so that all that can go
// wrong before it is still answered by a status.

import type { ChatEvent, ChatModel, DoneEvent, Lease, ModelManager, Usage } from "../engine/mod.ts";
import { CLIENT_CLOSED_REQUEST, HttpError } from "./errors.ts";
import type { WaitingQueue } from "./queue.ts";

/** What is to run, and for whom. */
export interface GenerationRequest {
  model: string;
  /** Window in tokens that it needs. */
  contextLength?: number;
  /** New keep-alive of the model, in milliseconds. */
  keepAlive?: number;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  run: (model: ChatModel, signal: AbortSignal) => AsyncIterable<ChatEvent>;
}

/** What is needed to run it. */
export interface GenerationResources {
  manager: Pick<ModelManager, "acquire">;
  queue: WaitingQueue;
}

/** The events of a generation that has begun. */
export class Generation implements AsyncIterableIterator<ChatEvent> {
  readonly #events: AsyncIterator<ChatEvent>;
  readonly #lease: Lease;
  readonly #abort: AbortController;
  readonly #signal: AbortSignal;
  readonly #ended = Promise.withResolvers<void>();
  #first: IteratorResult<ChatEvent> | undefined;
  #done: DoneEvent | undefined;
  #firstTokenAt: number | undefined;
  #failure: unknown;

  private constructor(lease: Lease, request: GenerationRequest) {
    this.#lease = lease;
    this.#abort = new AbortController();
    this.#signal = AbortSignal.any([request.signal, this.#abort.signal]);
    this.#events = request.run(lease.model, this.#signal)[Symbol.asyncIterator]();
  }

  /** Begins a generation and waits for its first event. */
  static async start(
    { manager, queue }: GenerationResources,
    request: GenerationRequest,
  ): Promise<Generation> {
    using _place = queue.enter();
    const lease = await manager.acquire(request.model, request);
    let generation: Generation;
    try {
      generation = new Generation(lease, request);
    } catch (error) {
      lease.release(error);
      throw error;
    }
    generation.#first = await generation.next();
    return generation;
  }

  /** Time that the model took to be there, in milliseconds. */
  get loadMilliseconds(): number {
    return this.#lease.loadMilliseconds;
  }

  /** The counts of the `done` event, once it has passed. */
  get usage(): Usage | undefined {
    return this.#done?.usage;
  }

  /** When the first token came, on the clock of performance.now(); undefined before. */
  get firstTokenAt(): number | undefined {
    return this.#firstTokenAt;
  }

  /** What was done in another way than asked for, as sentences, once the `done` event has passed. */
  get notes(): readonly string[] {
    return this.#done?.notes ?? [];
  }

  /** What the generation failed with, if it did. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Settles when the generation is over, whichever way. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** @throws {HttpError} 499 if the client is gone; else what the model raises */
  async next(): Promise<IteratorResult<ChatEvent>> {
    const first = this.#first;
    this.#first = undefined;
    if (first) return first;
    try {
      const result = await this.#events.next();
      if (!result.done) this.#note(result.value);
      if (result.done && !this.#done) throw this.#cutShort();
      if (result.done) this.#finish();
      return result;
    } catch (error) {
      this.#finish(error);
      throw error;
    }
  }

  /** Ends the generation early. */
  async return(): Promise<IteratorResult<ChatEvent>> {
    this.#abort.abort();
    this.#first = undefined;
    await this.#events.return?.();
    this.#finish();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #note(event: ChatEvent): void {
    if (event.type === "done") this.#done = event;
    else if (event.type !== "start") this.#firstTokenAt ??= performance.now();
  }

  #cutShort(): HttpError {
    return this.#signal.aborted
      ? new HttpError(CLIENT_CLOSED_REQUEST, "request canceled")
      : new HttpError(500, "Cannot answer: the model ended without a result");
  }

  #finish(cause?: unknown): void {
    this.#failure = cause;
    this.#lease.release(cause);
    this.#ended.resolve();
  }
}
