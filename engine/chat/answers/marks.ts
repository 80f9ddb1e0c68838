// Finds marks in text that comes in pieces: the first mark, or the index from which the text may
// still become one.

/** The index of the first mark, or of text that must be held back, or the length of the text. */
export interface FoundMark {
  readonly at: number;
  /** The mark; undefined if none is complete. */
  readonly mark?: string;
}

/** A set of marks to search for. Of several at one place the longest counts. */
export class Marks {
  readonly #marks: readonly string[];
  readonly #pattern: RegExp;
  readonly #longest: number;

  constructor(marks: readonly string[]) {
    this.#marks = marks.toSorted((a, b) => b.length - a.length);
    this.#longest = this.#marks[0]?.length ?? 0;
    this.#pattern = new RegExp(this.#marks.map(RegExp.escape).join("|") || "(?!)");
  }

  /** @param isEnd whether no text follows, so that nothing has to be held back */
  find(text: string, isEnd: boolean): FoundMark {
    const match = this.#pattern.exec(text);
    const at = match?.index ?? this.#beginningOfMark(text);
    if (isEnd) return match ? { at, mark: match[0] } : { at: text.length };
    return match && !this.#mayBeMark(text, at) ? { at, mark: match[0] } : { at };
  }

  #beginningOfMark(text: string): number {
    let at = Math.max(0, text.length - Math.max(0, this.#longest - 1));
    while (at < text.length && !this.#mayBeMark(text, at)) at++;
    return at;
  }

  /** Whether the text from an index on is a proper prefix of a mark. */
  #mayBeMark(text: string, at: number): boolean {
    const length = text.length - at;
    if (length >= this.#longest) return false;
    const beginning = text.slice(at);
    return this.#marks.some((mark) => mark.length > length && mark.startsWith(beginning));
  }
}
