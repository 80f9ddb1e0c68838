// The stream of a chat's answer. It checks calls whose schemas the mask could not hold, and tells at
// the end what was done in another way than it was asked for.

import type { ChatEvent, ChatMessage, DoneEvent } from "../types/mod.ts";
import type { ChatTools } from "./chat_tools.ts";

/** What the end of an answer tells. */
export interface AnswerFacts {
  readonly tools: ChatTools;
  /** Messages that did not fit the window. */
  readonly dropped: readonly ChatMessage[];
}

/** The dropped messages, as members of the event that ends a chat. */
function droppedOf(
  messages: readonly ChatMessage[],
): Pick<DoneEvent, "droppedMessages" | "droppedIndexes"> {
  const droppedIndexes = messages.flatMap(({ index }) => index === undefined ? [] : [index]);
  return {
    droppedMessages: messages.length,
    ...(droppedIndexes.length > 0 && { droppedIndexes }),
  };
}

/** The events of a chat. */
export class AnswerStream implements AsyncIterableIterator<ChatEvent> {
  readonly #source: AsyncIterableIterator<ChatEvent>;
  readonly #facts: AnswerFacts;
  readonly #notes: string[];

  constructor(source: AsyncIterableIterator<ChatEvent>, facts: AnswerFacts) {
    this.#source = source;
    this.#facts = facts;
    this.#notes = [...facts.tools.notes];
  }

  async next(): Promise<IteratorResult<ChatEvent>> {
    const { value, done } = await this.#source.next();
    if (done) return { done: true, value: undefined };
    if (value.type === "callEnd") {
      const fault = await this.#facts.tools.faultOf(value.name, value.arguments);
      if (fault) this.#notes.push(fault);
    }
    return { done: false, value: value.type === "done" ? this.#completed(value) : value };
  }

  async return(): Promise<IteratorResult<ChatEvent>> {
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #completed(event: DoneEvent): DoneEvent {
    const { dropped } = this.#facts;
    const notes = [...this.#notes, ...event.notes ?? []];
    return {
      ...event,
      ...(notes.length > 0 && { notes }),
      ...(dropped.length > 0 && droppedOf(dropped)),
    };
  }
}
