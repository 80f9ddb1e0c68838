// Draws the text that is being typed: prompts, wrapped rows, the cursor, in a window of any size.
// Each drawing goes over the last one, wherever a resize has left it. Knows nothing of keys.

import { type TerminalSize, truncate, widthOf } from "../terminal/mod.ts";

/** The content of the screen. */
export interface EditorView {
  /** Before the first line. */
  readonly prompt: string;
  /** Before each further line. */
  readonly continuation: string;
  readonly text: string;
  /** UTF-16 units of the text before the cursor. */
  readonly cursor: number;
  /** Shown in cell of an empty text, as much of it as fits. */
  readonly placeholder?: string;
}

/** Rows of a view, none wider than the window, and where the cursor is in them. */
export interface Layout {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** Columns that a tab is shown as. */
const TAB = "    ";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_SCREEN = "\x1b[H\x1b[2J\x1b[3J";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Breaks a view into rows of at most `columns` columns. */
export function layOut(
  { prompt, continuation, text, cursor }: EditorView,
  columns: number,
): Layout {
  const rows = [prompt];
  let width = widthOf(prompt);
  let cell = { row: 0, column: width };
  const begin = (row: string) => {
    width = widthOf(row);
    rows.push(row);
  };
  for (const { segment, index } of graphemes.segment(text)) {
    const shown = segment === "\t" ? TAB : segment;
    const extent = segment === "\n" ? 0 : widthOf(shown);
    if (width + extent > columns) begin("");
    if (index <= cursor) cell = { row: rows.length - 1, column: width };
    if (segment === "\n") begin(continuation);
    else {
      rows[rows.length - 1] += shown;
      width += extent;
    }
  }
  if (cursor === text.length) {
    if (width >= columns) begin("");
    cell = { row: rows.length - 1, column: width };
  }
  return { rows, row: cell.row, column: Math.min(cell.column, columns - 1) };
}

/** The rows on the terminal that belong to the text that is being typed. */
export class Screen {
  readonly #write: (text: string) => void;
  readonly #dim: (text: string) => string;
  /** Rows above the cursor, and the cursor's column, as last drawn. */
  #above: readonly number[] = [];
  #column = 0;

  /** @param dim dresses the placeholder */
  constructor(write: (text: string) => void, dim = (text: string) => text) {
    this.#write = write;
    this.#dim = dim;
  }

  /** Draws over the last drawing. A text higher than the window is shown around its cursor. */
  draw(view: EditorView, { columns, rows: height }: TerminalSize): void {
    const layout = layOut(view, columns);
    const first = Math.max(0, layout.row - height + 1);
    const rows = layout.rows.slice(first, first + height);
    const row = layout.row - first;
    const hint = view.text === "" ? view.placeholder ?? "" : "";
    const placeholder = hint && this.#dim(truncate(hint, columns - layout.column));
    let output = this.#home(columns) + rows.join("\r\n") + placeholder;
    output += up(rows.length - 1 - row) + "\r" + right(layout.column);
    this.#write(output);
    this.#above = rows.slice(0, row).map(widthOf);
    this.#column = layout.column;
  }

  /** Removes the placeholder, and moves the cursor below the drawing. */
  leave(view: EditorView, size: TerminalSize): void {
    this.draw({ ...view, cursor: view.text.length, placeholder: "" }, size);
    this.#write("\r\n");
    this.#forget();
  }

  /** Clears the window; the next drawing is at its top. */
  clear(): void {
    this.#write(CLEAR_SCREEN);
    this.#forget();
  }

  #forget(): void {
    this.#above = [];
    this.#column = 0;
  }

  /**
   * The sequence that goes to the start of the last drawing and clears from there. A window that
   * became narrower has wrapped its rows.
   */
  #home(columns: number): string {
    const rowsOf = (width: number) => Math.max(1, Math.ceil(width / columns));
    const above = this.#above.reduce((sum, width) => sum + rowsOf(width), 0);
    return up(above + Math.floor(this.#column / columns)) + "\r" + CLEAR_BELOW;
  }
}

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

function right(columns: number): string {
  return columns > 0 ? `\x1b[${columns}C` : "";
}
