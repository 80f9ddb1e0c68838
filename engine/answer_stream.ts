// An answer as it comes, taken apart: the text of a generation goes through the parser of the model's
// family, and comes out as text, thinking and tool calls.

import type { AnswerEvent, AnswerParser } from "./answers/mod.ts";
import type { ChatTools } from "./chat_tools.ts";
import type { ChatEvent, GenerateEvent } from "./types.ts";

/** The events of a chat. */
export class AnswerStream implements AsyncIterableIterator<ChatEvent> {
  readonly #source: AsyncIterableIterator<GenerateEvent>;
  readonly #parser: AnswerParser;
  readonly #tools: ChatTools;
  readonly #notes: string[];
  readonly #dropped: number;
  readonly #events: ChatEvent[] = [];
  #call = { id: "", name: "" };

  /** @param dropped messages that did not fit the window */
  constructor(
    source: AsyncIterableIterator<GenerateEvent>,
    parser: AnswerParser,
    tools: ChatTools,
    dropped: number,
  ) {
    this.#source = source;
    this.#parser = parser;
    this.#tools = tools;
    this.#dropped = dropped;
    this.#notes = [...tools.notes];
  }

  async next(): Promise<IteratorResult<ChatEvent>> {
    while (this.#events.length === 0) {
      const { value, done } = await this.#source.next();
      if (done) return { done: true, value: undefined };
      if (value.type === "text") this.#give(this.#parser.push(value.text));
      else if (value.type === "start") this.#events.push(value);
      else {
        this.#give(this.#parser.end());
        this.#events.push({
          ...value,
          ...(this.#notes.length > 0 && { notes: this.#notes }),
          ...(this.#dropped > 0 && { droppedMessages: this.#dropped }),
        });
      }
    }
    return { done: false, value: this.#events.shift()! };
  }

  async return(): Promise<IteratorResult<ChatEvent>> {
    this.#events.length = 0;
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #give(events: readonly AnswerEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case "callStart":
          this.#call = { id: event.id ?? newCallId(), name: event.name };
          this.#events.push({ type: "callStart", ...this.#call });
          break;
        case "callArguments":
          this.#events.push({ ...event, id: this.#call.id });
          break;
        case "callEnd": {
          const fault = this.#tools.faultOf(this.#call.name, event.arguments);
          if (fault) this.#notes.push(fault);
          this.#events.push({ ...event, ...this.#call });
          break;
        }
        default:
          this.#events.push(event);
      }
    }
  }
}

/** A name for a call that nobody else has. */
function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}
