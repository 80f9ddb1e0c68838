// A cursor over the text of a grammar that knows what separates its symbols.

import { GrammarError, type TextPlace } from "../grammar_error.ts";

/** A position in the text of a grammar. */
export class GrammarReader {
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether the whole text is read. */
  get isAtEnd(): boolean {
    return this.#offset >= this.#text.length;
  }

  /** The offset in UTF-16 units. */
  get offset(): number {
    return this.#offset;
  }

  /** Line and column of an offset. */
  placeOf(offset: number): TextPlace {
    const lines = this.#text.slice(0, offset).split(/\r\n|\r|\n/);
    return { line: lines.length, column: lines.at(-1)!.length + 1 };
  }

  /** The next character, for messages. */
  get next(): string {
    return this.isAtEnd ? "its end" : JSON.stringify(String.fromCodePoint(this.#codePoint()));
  }

  /** Whether `text` is next. */
  sees(text: string): boolean {
    return this.#text.startsWith(text, this.#offset);
  }

  /** Reads `text` if it is next. */
  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#offset += text.length;
    return true;
  }

  /** Reads what a sticky expression matches here. */
  match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#offset;
    const match = sticky.exec(this.#text);
    if (!match) return undefined;
    this.#offset = sticky.lastIndex;
    return match[0];
  }

  /** Reads one character. @returns its code point */
  character(): number {
    if (this.isAtEnd) throw this.error("it ends too early");
    const codePoint = this.#codePoint();
    this.#offset += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  /** Skips spaces and comments, and ends of lines where they do not separate rules. */
  space(withLineEnds: boolean): void {
    this.match(withLineEnds ? /(?:[ \t\r\n]|#[^\r\n]*)*/y : /(?:[ \t]|#[^\r\n]*)*/y);
  }

  /** An error here, or at another offset. */
  error(reason: string, offset: number = this.#offset): GrammarError {
    return new GrammarError(reason, this.placeOf(offset));
  }

  #codePoint(): number {
    return this.#text.codePointAt(this.#offset)!;
  }
}
