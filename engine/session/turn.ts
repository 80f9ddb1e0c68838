// One turn of a session as its user sees it: a promise of the answer, and at the same time a stream of
// what happens until then. Both may be used, in any order and more than once.

import type { ChatEvent, ChatMessage, DoneEvent, DoneReason, Usage } from "../types/mod.ts";
import { parsePartial } from "./partial.ts";
import type { ValidationIssue } from "./schema.ts";
import type { CallResult, SessionCall } from "./tools.ts";

/**
 * What happens in a turn: the events of the model's answers without their ends, the result of each call,
 * a structured answer that its validator refused, and the whole answer.
 */
export type SessionEvent<Value = unknown> =
  | Exclude<ChatEvent, DoneEvent>
  | { readonly type: "result"; readonly result: CallResult }
  | { readonly type: "refused"; readonly text: string; readonly issues: readonly ValidationIssue[] }
  | { readonly type: "answer"; readonly answer: Answer<Value> };

/** How a turn ended. */
export interface Answer<Value = undefined> {
  /** The text of the last message. */
  readonly text: string;
  /** The thinking before it. */
  readonly thinking?: string;
  /** The value of a structured answer, as its schema's validator gives it. */
  readonly value: Value;
  /** All calls that were carried out, in order. */
  readonly calls: readonly CallResult[];
  /** Calls of tools without a function, which wait for `session.answerCalls`. */
  readonly pending: readonly SessionCall[];
  /**
   * `stop` and `length`: as for chats. `calls`: calls are pending. `rounds`: maxRounds ended the loop,
   * in whose last round the model was not offered its tools.
   */
  readonly reason: DoneReason | "calls" | "rounds";
  /** How often the model answered. */
  readonly rounds: number;
  /** Counts and times of all rounds together. */
  readonly usage: Usage;
  /** What the turn added to the conversation: what was sent, answers and results of calls. */
  readonly messages: readonly ChatMessage[];
  /** What was done in another way than the request asks, as sentences for people. */
  readonly notes: readonly string[];
  /** Most messages that were left out of a round because they did not fit the window. */
  readonly droppedMessages: number;
}

/** What carries a turn out. */
export type TurnWork<Value> = (
  tell: (event: SessionEvent<Value>) => void,
  signal: AbortSignal,
) => Promise<Answer<Value>>;

/** A turn that has begun. */
export class Turn<Value = undefined>
  implements PromiseLike<Answer<Value>>, AsyncIterable<SessionEvent<Value>> {
  readonly #events: SessionEvent<Value>[] = [];
  readonly #abort = new AbortController();
  readonly #answer: Promise<Answer<Value>>;
  #news = Promise.withResolvers<void>();
  #isOver = false;

  /** Begins the work at once. @param signal aborts it, as `abort` does */
  constructor(work: TurnWork<Value>, signal?: AbortSignal) {
    const own = this.#abort.signal;
    const tell = (event: SessionEvent<Value>) => {
      this.#events.push(event);
      this.#wake();
    };
    this.#answer = Promise.try(work, tell, signal ? AbortSignal.any([signal, own]) : own)
      .finally(() => {
        this.#isOver = true;
        this.#wake();
      });
    // Who only reads the events learns of a failure there.
    this.#answer.catch(() => {});
  }

  /** Ends the turn, which fails with this reason. The conversation stays as it was before it. */
  abort(reason?: unknown): void {
    this.#abort.abort(reason);
  }

  /** Settles with the answer. Errors: those of `chat`, AnswerError, the signal's reason. */
  then<Result = Answer<Value>, Failure = never>(
    onAnswer?: ((answer: Answer<Value>) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#answer.then(onAnswer, onError);
  }

  /** All events from the first on; then the failure, if the turn fails. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent<Value>, void> {
    for (let index = 0;;) {
      while (index < this.#events.length) yield this.#events[index++]!;
      if (this.#isOver) break;
      await this.#news.promise;
    }
    await this.#answer;
  }

  /** The text of the answers, piece by piece. */
  async *texts(): AsyncGenerator<string, void> {
    for await (const event of this) if (event.type === "text") yield event.text;
  }

  /**
   * The value of a structured answer as far as it is written, whenever more of it is there. Its validator
   * has not seen it: strings, lists and objects may go on. An answer that is mended begins anew.
   */
  async *partials(): AsyncGenerator<unknown, void> {
    let [text, shown] = ["", ""];
    for await (const event of this) {
      if (event.type === "start") [text, shown] = ["", ""];
      if (event.type !== "text") continue;
      text += event.text;
      const value = parsePartial(text);
      const json = JSON.stringify(value);
      if (json === undefined || json === shown) continue;
      shown = json;
      yield value;
    }
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
