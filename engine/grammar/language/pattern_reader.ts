// A cursor over the text of a pattern, with what was found so far: flags, groups, and the dialect.

import { PatternError } from "./errors.ts";
import type { PatternNode } from "./pattern_node.ts";

/** The flags that change what a pattern means: i, m, s and x. */
export interface PatternFlags {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  /** Whether white space and comments mean nothing. */
  readonly extended: boolean;
}

const NO_FLAGS: PatternFlags = {
  ignoreCase: false,
  multiline: false,
  dotAll: false,
  extended: false,
};

/** A position in the text of a pattern. */
export class PatternReader {
  readonly #source: string;
  #position = 0;
  #isStrict: boolean | undefined;
  #isQuoting = false;

  /** The flags here. Groups put back those from before them. */
  flags = NO_FLAGS;
  /** Whether something was read that ECMA-262 does not have. */
  isForeign = false;
  /** Where a bracket opens within a class, which could be a class of its own; undefined: nowhere. */
  bracketWithin: number | undefined;
  /** The groups that capture, by number; undefined as long as they are open. The first has number 1. */
  readonly groups: (PatternNode | undefined)[] = [undefined];
  /** The numbers of groups by name; undefined for names of several groups. */
  readonly names = new Map<string, number | undefined>();

  /**
   * @param knowsForeign whether the pattern is known to be in another dialect than ECMA-262, so that its
   *   parts mean what all dialects have in common
   */
  constructor(source: string, readonly knowsForeign = false) {
    this.#source = source;
  }

  /** Whether the whole text is read. */
  get atEnd(): boolean {
    return this.#position >= this.#source.length;
  }

  /** The offset in UTF-16 units. */
  get position(): number {
    return this.#position;
  }

  /** Whether the pattern is one of ECMA-262 with the u flag, which is then what it means. */
  get isStrict(): boolean {
    return this.#isStrict ??= isEcmaScript(this.#source);
  }

  /** Whether the next characters are quoted by \Q, so that none of them is a sign. */
  get isQuoting(): boolean {
    return this.#isQuoting;
  }

  /** Goes back to an offset that was read before. */
  rewind(position: number): void {
    this.#position = position;
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

  /** Reads `text`, which ECMA-262 does not have, if it is next. */
  takeForeign(text: string): boolean {
    return this.take(text) && (this.isForeign = true);
  }

  /** Reads what a sticky expression matches at this position. */
  match(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#position;
    const match = sticky.exec(this.#source);
    if (match) this.#position = sticky.lastIndex;
    return match ?? undefined;
  }

  /** Reads what ECMA-262 does not have, if a sticky expression matches it here. */
  matchForeign(sticky: RegExp): RegExpExecArray | undefined {
    const match = this.match(sticky);
    if (match) this.isForeign = true;
    return match;
  }

  /** Whether a sticky expression matches at this position. */
  looksAt(sticky: RegExp): boolean {
    sticky.lastIndex = this.#position;
    return sticky.test(this.#source);
  }

  /** Reads one character. @returns its code point */
  next(): number {
    if (this.atEnd) throw this.error("it ends too early");
    const codePoint = this.#source.codePointAt(this.#position)!;
    this.#position += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  /** Reads a character between \Q and \E; undefined if the next one is not. */
  quoted(): number | undefined {
    while (!this.#isQuoting && this.takeForeign("\\Q")) this.#isQuoting = !this.take("\\E");
    if (!this.#isQuoting || this.atEnd) return undefined;
    const character = this.next();
    this.#isQuoting = !this.take("\\E");
    return character;
  }

  /** Skips comments, and white space if it means nothing here. */
  skipIgnored(): void {
    while (
      this.matchForeign(/\(\?#[^)]*\)/y) || this.flags.extended && this.match(/\s+|#[^\n]*/y)
    );
  }

  /** The column of an offset, in characters from 1. */
  columnOf(position: number): number {
    return [...this.#source.slice(0, position)].length + 1;
  }

  /** An error at this position, or at another offset. */
  error(reason: string, position: number = this.#position): PatternError {
    return new PatternError(reason, this.columnOf(position));
  }
}

function isEcmaScript(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}
