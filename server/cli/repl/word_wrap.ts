// Wraps a stream of text between words at the edge of the window. Text is shown as it comes: a word
// that turns out not to fit is erased from the end of its row and written again on the next.

import { widthOf } from "../terminal/mod.ts";

const TAB = "    ";
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** One text, piece by piece. */
export class WordWrap {
  readonly #columns: () => number;
  #lastColumns = 0;
  #column = 0;
  /** The end of the row so far that no break may cut. */
  #word = "";

  /** @param columns of the window as it is now */
  constructor(columns: () => number) {
    this.#columns = columns;
  }

  /** The text to write for the next piece. */
  push(piece: string): string {
    const columns = this.#columns();
    if (columns !== this.#lastColumns) this.#resize(columns);
    let output = "";
    for (const { segment } of graphemes.segment(piece)) output += this.#place(segment, columns);
    return output;
  }

  /** A window that got narrower has wrapped the row by itself; words in it stay where they are. */
  #resize(columns: number): void {
    this.#lastColumns = columns;
    this.#column %= columns;
    this.#word = "";
  }

  #place(segment: string, columns: number): string {
    if (segment === "\n") return this.#breakRow();
    const shown = segment === "\t" ? TAB : segment;
    const width = widthOf(shown);
    const isSpace = shown.trim() === "";
    let output = "";
    // The last column stays free, because terminals disagree on the place of a cursor after it.
    if (this.#column + width >= columns) {
      if (isSpace) return this.#breakRow();
      output = this.#breakBeforeWord();
    }
    this.#column += width;
    // Between wide characters there are no spaces to break at.
    this.#word = isSpace || width > 1 ? "" : this.#word + shown;
    return output + shown;
  }

  #breakRow(): string {
    this.#column = 0;
    this.#word = "";
    return "\n";
  }

  #breakBeforeWord(): string {
    const width = widthOf(this.#word);
    if (width === 0 || width >= this.#column) return this.#breakRow();
    this.#column = width;
    return `\x1b[${width}D\x1b[K\n${this.#word}`;
  }
}
