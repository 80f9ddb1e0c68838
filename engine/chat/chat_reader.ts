// Reads the text of a chat's answer: the parser of the model's family divides it into thinking, text
// and calls. Stop strings are searched in what becomes text alone, so that neither thinking nor a
// mark nor the arguments of a call can end an answer. Log-probabilities stay with the text of their
// tokens; those of marks and calls are dropped.

import {
  type AnswerEnd,
  type AnswerReader,
  type DecodedText,
  StopStrings,
  TokenLedger,
} from "../generate/mod.ts";
import type { ChatEvent } from "../types/mod.ts";
import { continueParser } from "./answers/continued_parser.ts";
import type { AnswerEvent, AnswerFormat, AnswerParser, CallableTool } from "./answers/types.ts";

/** What an answer is read with. */
export interface ChatReading {
  readonly answers: AnswerFormat;
  /** The rendered prompt, up to the answer. */
  readonly prompt: string;
  /** The beginning of the answer that is in the prompt already. */
  readonly begun: string;
  readonly tools: readonly CallableTool[];
  readonly stops: readonly string[];
}

type AnsweredText = Extract<AnswerEvent, { text: string }>;

/** The reader. */
export class ChatReader implements AnswerReader<ChatEvent> {
  stopString: string | undefined;
  readonly #parser: AnswerParser;
  readonly #stops: StopStrings;
  readonly #thinking: AnswerFormat["thinking"];
  /** The tokens, if log-probabilities are wanted. */
  #ledger: TokenLedger | undefined;
  #kind: "text" | "thinking" | undefined;
  #call = { id: "", name: "" };
  #isSure = () => false;

  constructor({ answers, prompt, begun, tools, stops }: ChatReading) {
    const parser = answers.parser({ prompt, tools, streaming: () => this.#isSure() });
    this.#parser = continueParser(parser, begun);
    this.#stops = new StopStrings(stops);
    this.#thinking = answers.thinking;
  }

  push({ text, logprobs }: DecodedText, isSure: () => boolean): ChatEvent[] {
    if (logprobs) (this.#ledger ??= new TokenLedger()).add(text, logprobs);
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
        this.#ledger?.clear();
        return { ...event, ...this.#call };
      default:
        return this.#withLogprobs(event);
    }
  }

  #withLogprobs({ type, text }: AnsweredText): ChatEvent {
    if (!this.#ledger) return { type, text };
    if (type !== this.#kind) {
      const { open = "", close = "" } = this.#thinking ?? {};
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
