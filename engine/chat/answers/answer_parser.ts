// Splits the stream of an answer into thinking, text and calls. The marks come from the family's
// AnswerFormat. It gives out what is certain, and holds back only what may become a mark, or white
// space around marks that comes from the template. White space around thinking is handled as in
// Ollama (thinking/parser.go). Every character is examined a bounded number of times.

import { Marks, OpenCall } from "./open_call.ts";
import {
  type AnswerEvent,
  type AnswerParser,
  type CallableTool,
  type CallSyntax,
  OWN_END,
  type ParserEnd,
  type ThinkingMarks,
} from "./types.ts";

/** A high surrogate: the first half of a character beyond U+FFFF. */
const HALF = /[\uD800-\uDBFF]/;

/** The marks of a family. */
export interface AnswerMarks {
  readonly thinking?: ThinkingMarks | undefined;
  readonly calls?: CallSyntax | undefined;
  /** Marks around text, which are removed. */
  readonly text: readonly string[];
}

export interface ParserOptions {
  readonly prompt: string;
  readonly tools: readonly CallableTool[];
  readonly streaming?: () => boolean;
}

/** A parser for these marks. Without tools, nothing is a call. */
export function createAnswerParser(marks: AnswerMarks, options: ParserOptions): AnswerParser {
  return new StreamingParser(marks, options);
}

/** Whether a prompt ends with the beginning of thinking. */
export function beginsThinking(prompt: string, thinking: ThinkingMarks | undefined): boolean {
  return thinking !== undefined && prompt.trimEnd().endsWith(thinking.open.trimEnd());
}

/** Whether a prompt ends with empty thinking, which asks the model not to think. */
export function endsThinking(prompt: string, thinking: ThinkingMarks): boolean {
  return prompt.trimEnd().endsWith(thinking.close.trimEnd());
}

class StreamingParser implements AnswerParser {
  readonly #thinking: ThinkingMarks | undefined;
  readonly #calls: CallSyntax | undefined;
  readonly #options: ParserOptions;
  readonly #open: Marks;
  readonly #close: Marks;
  /** Marks at the beginning of an answer, and later ones. */
  readonly #first: Marks;
  readonly #later: Marks;
  readonly #textMarks: ReadonlySet<string>;

  #isThinking: boolean;
  #call: OpenCall | undefined;
  /** Whether there was no text since the beginning, or since the last call. */
  #isFirst = true;
  /** Whether white space at the beginning is removed: after thinking and calls. */
  #isGlue = false;
  /** Text that has not been interpreted yet. */
  #pending = "";
  /** White space that counts as text only if text follows. */
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

  get held(): string {
    return this.#call ? "" : this.#blank + this.#pending;
  }

  push(text: string): AnswerEvent[] {
    this.#pending += text;
    // Half a character is held back until the other half comes.
    const half = HALF.test(this.#pending.slice(-1)) ? this.#pending.slice(-1) : "";
    this.#pending = this.#pending.slice(0, this.#pending.length - half.length);
    while (this.#step(false));
    this.#pending += half;
    return this.#take();
  }

  end({ isCut, isWhole }: ParserEnd = OWN_END): AnswerEvent[] {
    if (isCut) this.#drop(isWhole);
    while (this.#step(true));
    this.#emit("text", this.#blank);
    return this.#take();
  }

  /** Drops what an answer that was cut off had begun: a call, or a mark in its text. */
  #drop(isWhole: boolean): void {
    if (!isWhole) this.#call = undefined;
    if (!this.#isThinking) this.#pending = "";
  }

  /** Interprets some text. Gives whether there may be more to interpret. */
  #step(isEnd: boolean): boolean {
    if (this.#call) return this.#readCall(this.#call, isEnd);
    if (this.#isThinking) return this.#readThinking(isEnd);
    return this.#isFirst ? this.#readFirst(isEnd) : this.#readText(isEnd);
  }

  #readThinking(isEnd: boolean): boolean {
    if (this.#isGlue) {
      this.#pending = this.#pending.trimStart();
      if (this.#pending === "") return false;
      // Some models repeat the mark at the end of the prompt.
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

  /** At the beginning of the answer and after calls: only white space may precede these marks. */
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

  /** Handles a mark at the beginning of the pending text. */
  #meet(mark: string): boolean {
    this.#skip(mark);
    if (this.#textMarks.has(mark)) return true;
    if (mark === this.#thinking?.open) {
      this.#blank = "";
      this.#isThinking = this.#isGlue = true;
    } else {
      const opening = { mark, syntax: this.#calls!, tools: this.#options.tools };
      this.#call = new OpenCall(opening, {
        isSure: this.#options.streaming ?? (() => false),
        give: (event) => void this.#events.push(event),
      });
    }
    return true;
  }

  #giveText(text: string): void {
    if (text === "") return;
    this.#isFirst = this.#isGlue = false;
    // White space is only removed before a call.
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

  /** Takes a number of pending characters. */
  #next(length: number): string {
    const text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return text;
  }

  /** Takes a mark if it is given. Gives whether it was. */
  #skip(mark: string | undefined): boolean {
    this.#next(mark?.length ?? 0);
    return mark !== undefined;
  }

  #take(): AnswerEvent[] {
    return this.#events.splice(0);
  }
}
