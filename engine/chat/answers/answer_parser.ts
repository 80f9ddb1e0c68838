// Splits the stream of an answer into thinking, text and calls, whatever the family: the marks come
// from its AnswerFormat. Gives out what is certain and holds back no more than what may still
// become a mark, or white space that templates put around one. White space around thinking goes as
// in Ollama (thinking/parser.go). Every character is looked at a fixed number of times.

import { Marks } from "./marks.ts";
import { OpenCall } from "./open_call.ts";
import type {
  AnswerEvent,
  AnswerParser,
  CallableTool,
  CallSyntax,
  ThinkingMarks,
} from "./types.ts";

/** The first half of a character beyond U+FFFF. */
const HALF = /[\uD800-\uDBFF]/;

/** The marks of a family. */
export interface AnswerMarks {
  readonly thinking?: ThinkingMarks | undefined;
  readonly calls?: CallSyntax | undefined;
  /** Marks around text, which are left out. */
  readonly text: readonly string[];
}

/** What a parser is made for. */
export interface ParserOptions {
  readonly prompt: string;
  readonly tools: readonly CallableTool[];
  readonly streaming?: boolean;
}

/** Splits an answer by its marks; without tools, nothing is a call. */
export function createAnswerParser(marks: AnswerMarks, options: ParserOptions): AnswerParser {
  return new StreamingParser(marks, options);
}

/** Whether a prompt ends where thinking has begun. */
export function beginsThinking(prompt: string, thinking: ThinkingMarks | undefined): boolean {
  return thinking !== undefined && prompt.trimEnd().endsWith(thinking.open.trimEnd());
}

/** Whether a prompt ends with thinking that is over: the model is asked not to think. */
export function endsThinking(prompt: string, thinking: ThinkingMarks): boolean {
  return prompt.trimEnd().endsWith(thinking.close.trimEnd());
}

class StreamingParser implements AnswerParser {
  readonly #thinking: ThinkingMarks | undefined;
  readonly #calls: CallSyntax | undefined;
  readonly #options: ParserOptions;
  readonly #open: Marks;
  readonly #close: Marks;
  /** Marks where an answer begins, and later ones. */
  readonly #first: Marks;
  readonly #later: Marks;
  readonly #textMarks: ReadonlySet<string>;

  #isThinking: boolean;
  #call: OpenCall | undefined;
  /** Whether no text came since the beginning, or since the last call. */
  #isFirst = true;
  /** Whether white space at the beginning is glue: behind thinking and calls. */
  #isGlue = false;
  /** What came and is not understood yet. */
  #pending = "";
  /** White space that is text only if text follows. */
  #blank = "";
  #events: AnswerEvent[] = [];

  constructor({ thinking, calls, text }: AnswerMarks, options: ParserOptions) {
    this.#thinking = thinking;
    this.#calls = options.tools.length > 0 ? calls : undefined;
    this.#options = options;
    const open = thinking ? [thinking.open] : [];
    const later = [...text, ...this.#calls?.openings ?? []];
    this.#open = new Marks(open);
    this.#close = new Marks(thinking ? [thinking.close] : []);
    this.#later = new Marks(later);
    this.#first = new Marks([...later, ...open, ...this.#calls?.leading ?? []]);
    this.#textMarks = new Set(text);
    this.#isThinking = this.#isGlue = beginsThinking(options.prompt, thinking);
  }

  push(text: string): AnswerEvent[] {
    this.#pending += text;
    // Half a character stays until the other half comes.
    const half = HALF.test(this.#pending.slice(-1)) ? this.#pending.slice(-1) : "";
    this.#pending = this.#pending.slice(0, this.#pending.length - half.length);
    while (this.#step(false));
    this.#pending += half;
    return this.#take();
  }

  end(): AnswerEvent[] {
    while (this.#step(true));
    this.#emit("text", this.#blank);
    return this.#take();
  }

  /** Whether there may be more to understand. */
  #step(isEnd: boolean): boolean {
    if (this.#call) return this.#readCall(this.#call, isEnd);
    if (this.#isThinking) return this.#readThinking(isEnd);
    return this.#isFirst ? this.#readFirst(isEnd) : this.#readText(isEnd);
  }

  #readThinking(isEnd: boolean): boolean {
    if (this.#isGlue) {
      this.#pending = this.#pending.trimStart();
      if (this.#pending === "") return false;
      // Some models write the mark once more that the prompt ends with.
      const { at, mark } = this.#open.find(this.#pending, isEnd);
      if (at === 0) return this.#skip(mark);
      this.#isGlue = false;
    }
    const { at, mark } = this.#close.find(this.#pending, isEnd);
    this.#emit("thinking", this.#next(at));
    if (mark === undefined) return false;
    this.#isThinking = false;
    this.#isFirst = this.#isGlue = true;
    return this.#skip(mark);
  }

  /** Where the answer begins, and behind calls: only white space may come before these marks. */
  #readFirst(isEnd: boolean): boolean {
    const blank = this.#next(this.#pending.length - this.#pending.trimStart().length);
    if (!this.#isGlue) this.#blank += blank;
    if (this.#pending === "") return false;
    const { at, mark } = this.#first.find(this.#pending, isEnd);
    if (at === 0) return mark !== undefined && this.#meet(mark);
    this.#isFirst = this.#isGlue = false;
    return true;
  }

  #readText(isEnd: boolean): boolean {
    const { at, mark } = this.#later.find(this.#pending, isEnd);
    this.#giveText(this.#next(at));
    return mark !== undefined && this.#meet(mark);
  }

  #readCall(call: OpenCall, isEnd: boolean): boolean {
    if (!call.push(this.#next(this.#pending.length)) && !isEnd) return false;
    const { text, events, rest, isCall } = call.end();
    this.#call = undefined;
    this.#giveText(text);
    if (isCall) this.#blank = "";
    this.#isFirst = this.#isGlue = isCall;
    for (const event of events) this.#events.push(event);
    this.#pending = rest;
    return rest !== "";
  }

  /** A mark begins what is pending. */
  #meet(mark: string): boolean {
    this.#skip(mark);
    if (this.#textMarks.has(mark)) return true;
    if (mark === this.#thinking?.open) {
      this.#blank = "";
      this.#isThinking = this.#isGlue = true;
    } else {
      const opening = { mark, syntax: this.#calls!, tools: this.#options.tools };
      const give = (event: AnswerEvent) => void this.#events.push(event);
      this.#call = new OpenCall(opening, this.#options.streaming ? give : undefined);
    }
    return true;
  }

  #giveText(text: string): void {
    if (text === "") return;
    this.#isFirst = this.#isGlue = false;
    // Only before a call is white space glue.
    const end = this.#calls ? text.trimEnd().length : text.length;
    if (end > 0) {
      this.#emit("text", this.#blank + text.slice(0, end));
      this.#blank = "";
    }
    this.#blank += text.slice(end);
  }

  #emit(type: "thinking" | "text", text: string): void {
    if (text === "") return;
    const last = this.#events.at(-1);
    if (last?.type !== type) this.#events.push({ type, text });
    else this.#events[this.#events.length - 1] = { type, text: last.text + text };
  }

  /** Takes as many characters of what is pending. */
  #next(length: number): string {
    const text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return text;
  }

  /** Takes a mark, if one came; whether it did. */
  #skip(mark: string | undefined): boolean {
    this.#next(mark?.length ?? 0);
    return mark !== undefined;
  }

  #take(): AnswerEvent[] {
    return this.#events.splice(0);
  }
}
