// A cursor over the text of a pattern.

import { PatternError } from "./errors.ts";

/** A position in the text of a pattern. */
export class PatternReader {
  readonly #source: string;
  #position = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Whether the whole text is read. */
  get atEnd(): boolean {
    return this.#position >= this.#source.length;
  }

  /** Whether `text` is next. */
  sees(text: string): boolean {
    return this.#source.startsWith(text, this.#position);
  }

  /** Reads `text` if it is next. */
  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#position += text.length;
    return true;
  }

  /** Reads what a sticky expression matches at this position. */
  match(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#position;
    const match = sticky.exec(this.#source);
    if (match) this.#position = sticky.lastIndex;
    return match ?? undefined;
  }

  /** Reads one character. @returns its code point */
  next(): number {
    if (this.atEnd) throw this.error("it ends too early");
    const codePoint = this.#source.codePointAt(this.#position)!;
    this.#position += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  /** An error at this position. */
  error(reason: string): PatternError {
    return new PatternError(`Reading a pattern at character ${this.#position}: ${reason}`);
  }
}
