// A terminal in memory: enough of ECMA-48 to see where text and cursor come to be. Rows wrap at the
// edge as in xterm, where a full row keeps its cursor until the next character.

import { widthOf } from "../../../../server/cli/terminal/mod.ts";

/** Rows of characters and a cursor. */
export class VirtualTerminal {
  readonly columns: number;
  #rows: string[][] = [[]];
  row = 0;
  column = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  /** What is to be seen, a text per row. */
  get rows(): string[] {
    // A wide character takes a second cell, which is empty.
    return this.#rows.map((row) => row.map((cell) => cell ?? " ").join("").trimEnd());
  }

  readonly write = (output: string): void => {
    // deno-lint-ignore no-control-regex
    for (const [part, count, final] of output.matchAll(/\x1b\[[?]?(\d*)([A-Za-z])|[^]/gu)) {
      if (final) this.#control(final, Number(count || 1), count === "");
      else this.#put(part);
    }
  };

  #control(final: string, count: number, isDefault: boolean): void {
    if (final === "A") this.row = Math.max(0, this.row - count);
    else if (final === "C") this.column = Math.min(this.columns - 1, this.column + count);
    else if (final === "D") {
      this.column = Math.max(0, Math.min(this.column, this.columns - 1) - count);
    } else if (final === "K") this.#rows[this.row]!.length = Math.min(this.column, this.#width());
    else if (final === "J" && isDefault) {
      this.#rows.length = this.row + 1;
      this.#rows[this.row]!.length = Math.min(this.column, this.#width());
    } else if (!"Jhlm".includes(final) && final !== "H") throw new Error(`unknown: ${final}`);
  }

  #width(): number {
    return this.#rows[this.row]!.length;
  }

  #put(character: string): void {
    if (character === "\r") this.column = 0;
    else if (character === "\n") this.#feed();
    else {
      const width = widthOf(character);
      if (this.column + width > this.columns) this.#feed();
      const row = this.#rows[this.row]!;
      while (row.length < this.column) row.push(" ");
      // A mark that combines joins the character before it.
      if (width === 0) row[this.column - 1] += character;
      else row[this.column] = character;
      if (width === 2) row[this.column + 1] = "";
      this.column += width;
    }
  }

  /** As the terminal driver has it, a line feed goes to the first column too. */
  #feed(): void {
    this.column = 0;
    this.row++;
    while (this.#rows.length <= this.row) this.#rows.push([]);
  }
}
