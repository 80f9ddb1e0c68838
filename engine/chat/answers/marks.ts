// Finds marks in text that comes in pieces: the first that is there, or from where on the text could
// still become one. Knows nothing of what marks mean.

/** Where the first mark begins, or what must be held back; the length of the text if neither is. */
export interface FoundMark {
  readonly at: number;
  /** Undefined: none is there yet. */
  readonly mark?: string;
}

/** A set of strings to look for. Of several at one place the longest counts. */
export class Marks {
  readonly #marks: readonly string[];
  readonly #pattern: RegExp;
  readonly #longest: number;

  constructor(marks: readonly string[]) {
    this.#marks = marks.toSorted((a, b) => b.length - a.length);
    this.#longest = this.#marks[0]?.length ?? 0;
    this.#pattern = new RegExp(this.#marks.map(RegExp.escape).join("|") || "(?!)");
  }

  /** @param isEnd whether no text follows: then nothing has to be held back */
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

  /** Whether all text from an index on is the beginning of a mark, and not all of it. */
  #mayBeMark(text: string, at: number): boolean {
    const length = text.length - at;
    if (length >= this.#longest) return false;
    const beginning = text.slice(at);
    return this.#marks.some((mark) => mark.length > length && mark.startsWith(beginning));
  }
}
