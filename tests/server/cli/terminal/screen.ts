// A terminal's window, as far as progress needs one: text, line feeds, the few control sequences that
// are used, and whether the cursor shows. Lines that are too long wrap, as they do.

/** What a window of a given width shows. */
export class Screen {
  isCursorShown = true;
  #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(readonly columns: number) {}

  /** The rows, without spaces at their ends and without empty ones at the end. */
  get lines(): string[] {
    const lines = this.#rows.map((row) =>
      Array.from(row, (cell) => cell ?? " ").join("").trimEnd()
    );
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  write(text: string): void {
    // deno-lint-ignore no-control-regex
    for (const [part] of text.matchAll(/\x1b\[[?\d]*[A-Za-z]|[^]/gu)) this.#take(part);
  }

  #take(part: string): void {
    // deno-lint-ignore no-control-regex
    const up = /^\x1b\[(\d+)A$/.exec(part);
    if (up) this.#row = Math.max(0, this.#row - Number(up[1]));
    else if (part === "\r") this.#column = 0;
    else if (part === "\n") this.#moveDown();
    else if (part === "\x1b[K") this.#rows[this.#row]!.length = this.#column;
    else if (part === "\x1b[J") this.#clearBelow();
    else if (part === "\x1b[?25l") this.isCursorShown = false;
    else if (part === "\x1b[?25h") this.isCursorShown = true;
    else if (part.startsWith("\x1b")) throw new Error(`Unknown sequence ${JSON.stringify(part)}`);
    else this.#print(part);
  }

  #print(character: string): void {
    if (this.#column === this.columns) {
      this.#moveDown();
      this.#column = 0;
    }
    this.#rows[this.#row]![this.#column++] = character;
  }

  #moveDown(): void {
    this.#row++;
    this.#rows[this.#row] ??= [];
  }

  #clearBelow(): void {
    this.#rows[this.#row]!.length = this.#column;
    this.#rows.length = this.#row + 1;
  }
}
