// What makes events of an answer's text while its tokens come, and finds the stop string that ends
// it. This one takes all of it as text; chat/chat_reader.ts knows thinking and calls.

import type { TextPiece, TokenLogprob } from "../types/mod.ts";
import { StopStrings } from "./stop_strings.ts";

/** Tokens of an answer, and their text, which is empty only if the vocabulary has no text. */
export interface DecodedText {
  readonly text: string;
  readonly tokens: readonly number[];
  /** Missing if they are not wanted. */
  readonly logprobs?: readonly TokenLogprob[];
}

/** What a reader is told about the end of an answer. */
export interface AnswerEnd {
  /** Whether a limit ended it, so that its last words may be the beginning of something. */
  readonly isCut: boolean;
  /** Whether it may end here nevertheless, by the model's will or by its format. */
  readonly isWhole: boolean;
}

/** Reads the text of one answer. */
export interface AnswerReader<Event> {
  /** The stop string that came, after which nothing is read. */
  readonly stopString: string | undefined;
  /**
   * Takes text. Gives the events that are certain.
   *
   * @param isSure tells whether a mask leads the answer to an end before a limit, so that what
   *   begins now is going to be whole
   */
  push(decoded: DecodedText, isSure: () => boolean): Event[];
  /** The events of what was held back. */
  end(end: AnswerEnd): Event[];
}

/** A piece of an answer that is all text. */
export type TextEvent = { type: "text"; tokens: number[] } & TextPiece;

/** Takes all of an answer as text. */
export class TextReader implements AnswerReader<TextEvent> {
  readonly #stops: StopStrings;
  stopString: string | undefined;
  /** Tokens whose text is not given out yet. */
  #tokens: number[] = [];
  #logprobs: TokenLogprob[] | undefined;

  /** @param includesStop whether the text ends with the stop string that came */
  constructor(stops: readonly string[], includesStop = false) {
    this.#stops = new StopStrings(stops, includesStop);
  }

  push({ text, tokens, logprobs }: DecodedText): TextEvent[] {
    this.#tokens.push(...tokens);
    if (logprobs) (this.#logprobs ??= []).push(...logprobs);
    const found = this.#stops.push(text);
    this.stopString = found.stop;
    // With a vocabulary without text, there are only tokens.
    return found.text === "" && text !== "" ? [] : this.#give(found.text);
  }

  end(): TextEvent[] {
    const text = this.#stops.flush();
    return text === "" ? [] : this.#give(text);
  }

  #give(text: string): TextEvent[] {
    const event = {
      type: "text" as const,
      text,
      tokens: this.#tokens,
      ...(this.#logprobs && { logprobs: this.#logprobs }),
    };
    [this.#tokens, this.#logprobs] = [[], undefined];
    return [event];
  }
}
