// Reads the text of a chat's answer: the parser of the model's family divides it into thinking, text
// and calls. Stop strings are searched in what becomes text alone, so that neither thinking nor a
// mark nor the arguments of a call can end an answer. Log-probabilities stay with the text of their
// tokens; those of marks and calls are dropped.

import {
  type AnswerEnd,
  type AnswerReader,
  type DecodedText,
  StopStrings,
  TokenQueue,
} from "../generate/mod.ts";
import type { ChatEvent, ChatMessage, DoneEvent } from "../types/mod.ts";
import type { AnswerEvent, AnswerFormat, AnswerParser, CallableTool } from "./answers/types.ts";
import type { ChatTools } from "./chat_tools.ts";

/** What an answer is read with. */
export interface ChatReading {
  readonly answers: AnswerFormat;
  /** The rendered prompt, up to the answer. */
  readonly prompt: string;
  /** The beginning of the answer that is in the prompt already. */
  readonly begun: string;
  readonly tools: readonly CallableTool[];
  readonly stops: readonly string[];
  /** Whether the text ends with the stop string that came. */
  readonly includesStop: boolean;
}

type AnsweredText = Extract<AnswerEvent, { text: string }>;

export class ChatReader implements AnswerReader<ChatEvent> {
  stopString: string | undefined;
  readonly #parser: AnswerParser;
  readonly #stops: StopStrings;
  readonly #thinking: AnswerFormat["thinking"];
  /** The tokens, if log-probabilities are wanted. */
  #tokens: TokenQueue | undefined;
  #kind: "text" | "thinking" | undefined;
  #call = { id: "", name: "" };
  #isSure = () => false;

  constructor({ answers, prompt, begun, tools, stops, includesStop }: ChatReading) {
    const parser = answers.parser({ prompt, tools, streaming: () => this.#isSure() });
    this.#parser = continueParser(parser, begun);
    this.#stops = new StopStrings(stops, includesStop);
    this.#thinking = answers.thinking;
  }

  push({ text, logprobs }: DecodedText, isSure: () => boolean): ChatEvent[] {
    if (logprobs) (this.#tokens ??= new TokenQueue()).add(text, logprobs);
    this.#isSure = isSure;
    return this.#searched(this.#parser.push(text)).map((event) => this.#toEvent(event));
  }

  end(end: AnswerEnd): ChatEvent[] {
    const events = this.#searched(this.#parser.end(end));
    const rest = this.#stops.flush();
    if (this.stopString === undefined && rest !== "") events.push({ type: "text", text: rest });
    return events.map((event) => this.#toEvent(event));
  }

  /** The events up to the stop string, without text that may be the beginning of one. */
  #searched(events: readonly AnswerEvent[]): AnswerEvent[] {
    const certain: AnswerEvent[] = [];
    const give = (text: string) => void (text !== "" && certain.push({ type: "text", text }));
    for (const event of events) {
      if (event.type === "text") {
        const { text, stop } = this.#stops.push(event.text);
        give(text);
        this.stopString = stop;
        if (stop !== undefined) break;
      } else {
        // A stop string is not divided by what is no text.
        give(this.#stops.flush());
        certain.push(event);
      }
    }
    return certain;
  }

  #toEvent(event: AnswerEvent): ChatEvent {
    switch (event.type) {
      case "callStart":
        this.#call = { id: event.id ?? newCallId(), name: event.name };
        return { type: "callStart", ...this.#call };
      case "callArguments":
        return { ...event, id: this.#call.id };
      case "callEnd":
        this.#tokens?.clear();
        return { ...event, ...this.#call };
      default:
        return this.#withLogprobs(event);
    }
  }

  #withLogprobs({ type, text }: AnsweredText): ChatEvent {
    if (!this.#tokens) return { type, text };
    if (type !== this.#kind) {
      const { open = "", close = "" } = this.#thinking ?? {};
      this.#tokens.skip(type === "thinking" ? open : close);
      this.#kind = type;
    }
    return { type, text, logprobs: this.#tokens.take(text) };
  }
}

/** A unique id for a call. */
function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}

// A parser of the rest of an answer whose beginning is known already. The beginning passes through
// the parser, which may be within thinking, a mark or a call after it, but none of it is given out.

/**
 * The parser, after the beginning of an answer. Events of later pushes are what is new, except for
 * a call that has begun, which comes as a whole.
 *
 * @param begun text of the answer; empty: there is none
 */
function continueParser(parser: AnswerParser, begun: string): AnswerParser {
  if (begun === "") return parser;
  parser.push(begun);
  let known = parser.held;
  const withoutKnown = (events: AnswerEvent[]) =>
    events.flatMap((event) => {
      if (known === "") return event;
      const length = "text" in event ? sharedLength(event.text, known) : 0;
      // If anything else comes, what was held back was part of a mark.
      known = length === 0 ? "" : known.slice(length);
      if (length === 0 || !("text" in event)) return event;
      const text = event.text.slice(length);
      return text === "" ? [] : { ...event, text };
    });
  return {
    get held() {
      return parser.held.slice(known.length);
    },
    push: (text) => withoutKnown(parser.push(text)),
    end: (end) => withoutKnown(parser.end(end)),
  };
}

/** The length of the shorter text if the other begins with it, else 0. */
function sharedLength(text: string, other: string): number {
  const length = Math.min(text.length, other.length);
  return text.slice(0, length) === other.slice(0, length) ? length : 0;
}

// The stream of a chat's answer. It checks calls whose schemas the mask could not hold, and tells at
// the end what was done in another way than it was asked for.

/** What the end of an answer tells. */
interface AnswerFacts {
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
