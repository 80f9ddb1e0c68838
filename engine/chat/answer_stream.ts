// The stream of a chat's answer: the text of a generation passes through the parser of the model's
// family, and becomes text, thinking and tool calls. Log-probabilities stay with the text of their
// tokens; those of marks and calls are dropped.

import { TokenLedger } from "../generate/mod.ts";
import type { ChatEvent, ChatMessage, DoneEvent, GenerateEvent } from "../types/mod.ts";
import type { AnswerEvent, AnswerFormat, AnswerParser } from "./answers/types.ts";
import type { ChatTools } from "./chat_tools.ts";

/** The options of the stream. */
export interface AnswerReading {
  readonly parser: AnswerParser;
  /** The marks of the parser's family. */
  readonly thinking?: AnswerFormat["thinking"] | undefined;
  readonly tools: ChatTools;
  /** Messages that did not fit the window. */
  readonly dropped: readonly ChatMessage[];
}

type AnsweredText = Extract<AnswerEvent, { text: string }>;

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
  readonly #source: AsyncIterableIterator<GenerateEvent>;
  readonly #reading: AnswerReading;
  readonly #notes: string[];
  readonly #events: ChatEvent[] = [];
  /** The tokens, if log-probabilities are wanted. */
  #ledger: TokenLedger | undefined;
  #kind: "text" | "thinking" | undefined;
  #call = { id: "", name: "" };

  constructor(source: AsyncIterableIterator<GenerateEvent>, reading: AnswerReading) {
    this.#source = source;
    this.#reading = reading;
    this.#notes = [...reading.tools.notes];
  }

  async next(): Promise<IteratorResult<ChatEvent>> {
    const { parser, dropped } = this.#reading;
    while (this.#events.length === 0) {
      const { value, done } = await this.#source.next();
      if (done) return { done: true, value: undefined };
      if (value.type === "text") {
        if (value.logprobs) (this.#ledger ??= new TokenLedger()).add(value.text, value.logprobs);
        await this.#give(parser.push(value.text));
      } else if (value.type !== "done") this.#events.push(value);
      else {
        await this.#give(parser.end());
        const notes = [...this.#notes, ...value.notes ?? []];
        this.#events.push({
          ...value,
          ...(notes.length > 0 && { notes }),
          ...(dropped.length > 0 && droppedOf(dropped)),
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

  async #give(events: readonly AnswerEvent[]): Promise<void> {
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
          this.#ledger?.clear();
          const fault = await this.#reading.tools.faultOf(this.#call.name, event.arguments);
          if (fault) this.#notes.push(fault);
          this.#events.push({ ...event, ...this.#call });
          break;
        }
        default:
          this.#events.push(this.#withLogprobs(event));
      }
    }
  }

  #withLogprobs(piece: AnsweredText): ChatEvent {
    const { type, text } = piece;
    if (!this.#ledger) return piece;
    if (type !== this.#kind) {
      const { open = "", close = "" } = this.#reading.thinking ?? {};
      this.#ledger.skip(type === "thinking" ? open : close);
      this.#kind = type;
    }
    return { type, text, logprobs: this.#ledger.take(text) };
  }
}

/** A unique id for a call. */
function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}
