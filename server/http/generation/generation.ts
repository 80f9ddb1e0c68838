// One running generation: takes a place in the queue and a lease on the model, takes the events as
// they come, and releases both when the model is done, whoever still reads the answer, or at an
// error, an abort, or a reader that stops. Knows no wire format. `start` returns once there is a
// first event, so that whatever is wrong with a request is still answered by a status. That a
// request waits in the model's queue is such an event, too.

import type {
  AskedLoad,
  ChatEvent,
  ChatModel,
  DoneEvent,
  Lease,
  ModelManager,
  QueuedEvent,
  StepSpan,
  Usage,
} from "../../../engine/mod.ts";
import { CLIENT_CLOSED_REQUEST, HttpError } from "../errors.ts";
import { withoutCrash } from "./lease.ts";
import type { WaitingQueue } from "./queue.ts";
import { type UnreadBudget, UnreadEvents } from "./unread.ts";

/** The request to run, and its client. */
export interface GenerationRequest extends AskedLoad {
  model: string;
  /** New keep-alive of the model, in milliseconds. */
  keepAlive?: number;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  run: (model: ChatModel, signal: AbortSignal) => AsyncIterable<ChatEvent>;
}

/** The resources of a server that a generation needs. */
export interface GenerationResources {
  manager: Pick<ModelManager, "acquire">;
  queue: WaitingQueue;
  unread: UnreadBudget;
}

/** When the parts of a generation began, on the clock of performance.now(); missing: not yet. */
export interface GenerationTimes {
  /** The request was there. */
  readonly asked: number;
  /** Its model was loaded. */
  readonly leased: number;
  /** It had its turn. */
  readonly begun?: number;
  readonly firstToken?: number;
  /** It was over, whichever way. */
  readonly ended?: number;
}

/** The parts of an answer. */
export type AnswerEvent = Exclude<ChatEvent, QueuedEvent>;

/** A sign of life while there is nothing else to send. */
export interface Waiting {
  type: "waiting";
  /** How many requests come first, if this one waits; undefined while it is worked on. */
  ahead?: number;
}

/** The events of a generation that has begun, or is in the model's queue. */
export class Generation implements AsyncIterableIterator<AnswerEvent> {
  readonly #unread: UnreadEvents;
  readonly #lease: Lease;
  readonly #abort: AbortController;
  readonly #signal: AbortSignal;
  readonly #place: Disposable;
  readonly #begun = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #first: IteratorResult<ChatEvent> | undefined;
  #done: DoneEvent | undefined;
  readonly #times: { -readonly [Time in keyof GenerationTimes]: GenerationTimes[Time] };
  #cachedTokens: number | undefined;
  #failure: unknown;
  #isOver = false;

  private constructor(
    lease: Lease,
    request: GenerationRequest,
    { place, unread, asked }: { place: Disposable; unread: UnreadBudget; asked: number },
  ) {
    this.#times = { asked, leased: performance.now() };
    this.#lease = lease;
    this.#place = place;
    this.#unread = new UnreadEvents(unread);
    this.#abort = new AbortController();
    this.#signal = AbortSignal.any([request.signal, this.#abort.signal]);
    void this.#take(() => request.run(lease.model, this.#signal));
  }

  /** Begins a generation and waits for its first event, which may be that it is queued. */
  static start(resources: GenerationResources, request: GenerationRequest): Promise<Generation> {
    return withoutCrash(() => Generation.#begin(resources, request));
  }

  static async #begin(
    { manager, queue, unread }: GenerationResources,
    request: GenerationRequest,
  ): Promise<Generation> {
    const asked = performance.now();
    using waiting = new DisposableStack();
    const place = waiting.use(queue.enter());
    const lease = waiting.adopt(
      await manager.acquire(request.model, request),
      (lease) => lease.release(),
    );
    const generation = new Generation(lease, request, { place, unread, asked });
    // From here on the generation releases both.
    waiting.move();
    generation.#first = await generation.#unread.next();
    return generation;
  }

  /** How long the model took to load, in milliseconds. */
  get loadMilliseconds(): number {
    return this.#lease.loadMilliseconds;
  }

  /** The name of the model in the store, whatever the client called it. */
  get modelName(): string {
    return this.#lease.entry.name;
  }

  /** Why the model ended, once it is done. */
  get reason(): DoneEvent["reason"] | undefined {
    return this.#done?.reason;
  }

  /** The counts of the `done` event, once the model is done. */
  get usage(): Usage | undefined {
    return this.#done?.usage;
  }

  /** When its parts began. */
  get times(): GenerationTimes {
    return this.#times;
  }

  /** The steps that ran for it, once the model is done, if the request asks for them. */
  get timeline(): StepSpan[] | undefined {
    return this.#done?.timeline;
  }

  /**
   * What was done differently from what was asked for, as sentences, once the model is done.
   */
  get notes(): readonly string[] {
    return this.#done?.notes ?? [];
  }

  /** Tokens of the prompt that were cached; undefined until its turn has come. */
  get cachedTokens(): number | undefined {
    return this.#cachedTokens;
  }

  /** The error of the generation, if it failed. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Settles when there is a part of the answer, or after so many milliseconds in the queue and with the
   * prompt. Until then a stream sends nothing, so that a gateway can give the request to another server
   * if this one is lost.
   *
   * @throws what the model raises instead of an answer
   */
  async untilBegun(milliseconds = HEARTBEAT_MILLISECONDS): Promise<void> {
    await atMost(milliseconds, this.#begun.promise);
    if (this.#failure !== undefined && this.#times.firstToken === undefined) throw this.#failure;
  }

  /** Settles when the generation is over, whichever way; its answer may still be read. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** @throws {HttpError} 499 if the client is gone; else what the model raises */
  async next(): Promise<IteratorResult<AnswerEvent>> {
    for (;;) {
      const { done, value } = await this.#read();
      if (done) return { done, value };
      if (value.type !== "queued") return { done: false, value };
    }
  }

  /**
   * The events for a client of a stream: with its place in the queue, and with a sign of life whenever
   * nothing came for so many milliseconds.
   */
  async *live(milliseconds = HEARTBEAT_MILLISECONDS): AsyncGenerator<AnswerEvent | Waiting> {
    let ahead: number | undefined;
    for await (const event of withHeartbeat({ next: () => this.#read() }, milliseconds)) {
      if (event !== HEARTBEAT) ahead = event.type === "queued" ? event.ahead : undefined;
      if (event !== HEARTBEAT && event.type !== "queued") yield event;
      else yield { type: "waiting", ...(ahead !== undefined && { ahead }) };
    }
  }

  async #read(): Promise<IteratorResult<ChatEvent>> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? await this.#unread.next();
  }

  /** Takes all that the model says, at the pace of the model. */
  async #take(run: () => AsyncIterable<ChatEvent>): Promise<void> {
    try {
      for await (const event of run()) {
        this.#note(event);
        this.#unread.push(event);
      }
      if (!this.#done) throw this.#cutShort();
      this.#finish();
    } catch (error) {
      this.#finish({ error });
    }
  }

  /** Ends the generation early. */
  return(): Promise<IteratorResult<AnswerEvent>> {
    this.#abort.abort();
    this.#first = undefined;
    this.#unread.drop();
    this.#finish();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #note(event: ChatEvent): void {
    if (event.type === "queued") return;
    this.#place[Symbol.dispose]();
    if (event.type === "start") {
      this.#times.begun ??= performance.now();
      this.#cachedTokens = event.cachedTokens;
      return;
    }
    this.#begun.resolve();
    if (event.type === "done") this.#done = event;
    else if (event.type !== "progress") {
      this.#times.firstToken ??= performance.now();
    }
  }

  #cutShort(): HttpError {
    return this.#signal.aborted
      ? new HttpError(CLIENT_CLOSED_REQUEST, "request canceled")
      : new HttpError(500, "Cannot answer: the model ended without a result");
  }

  #finish(end: { error?: unknown } = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#times.ended = performance.now();
    this.#failure = end.error;
    this.#place[Symbol.dispose]();
    this.#lease.release(end.error);
    // Only now, so that whoever has read the end finds the model given back.
    this.#unread.close(end);
    this.#begun.resolve();
    this.#ended.resolve();
  }
}

// A sign of life between the items of a slow source, so that neither a client nor a proxy gives up
// during a long prefill. Knows no wire format.

/**
 * How long a stream is silent before a sign of life, in milliseconds: proxies wait for 30 s and
 * more.
 */
const HEARTBEAT_MILLISECONDS = 5000;

/** The item that says that nothing came for a while. */
const HEARTBEAT = Symbol("heartbeat");

/** The items of the source, and a heartbeat whenever none came for a number of milliseconds. */
async function* withHeartbeat<T>(
  source: Pick<AsyncIterator<T>, "next">,
  milliseconds: number,
): AsyncGenerator<T | typeof HEARTBEAT> {
  for (;;) {
    const next = source.next();
    // A reader may stop at a heartbeat, and then nobody awaits this: its failure must not crash the
    // program.
    next.catch(() => {});
    let result: IteratorResult<T> | undefined;
    while (!result) {
      result = await atMost(milliseconds, next);
      if (!result) yield HEARTBEAT;
    }
    if (result.done) return;
    yield result.value;
  }
}

/** The result of a promise, or undefined if that takes too long. */
async function atMost<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds);
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
