// Writes an answer as it comes: thinking is dimmed between two lines that say so, then follows the
// text. On a terminal it is wrapped, and control sequences are removed; a file or pipe gets the
// text unchanged, and thinking only if it was asked for.

import type { Environment } from "../../settings/environment.ts";
import type { OllamaMetrics, OllamaRecord } from "../client/mod.ts";
import {
  formatDuration,
  movesCursor,
  type Style,
  styleFor,
  type Terminal,
  widthOf,
} from "../terminal/mod.ts";
import { withoutControls } from "../terminal/format.ts";
import { partsOf } from "./conversation.ts";

/** How answers are shown. */
export interface AnswerLook {
  /** Whether lines are wrapped between words. */
  wordWrap: boolean;
  /** Whether thinking is shown. Default: only on a terminal. */
  showThinking?: boolean | undefined;
}

/** One answer on its way to standard output. */
export class AnswerPrinter {
  readonly #terminal: Terminal;
  readonly #style: Style;
  readonly #wrap: WordWrap | undefined;
  readonly #showsThinking: boolean;
  #isThinking = false;
  /** Whether the cursor is at the beginning of a row. */
  #endsRow = true;

  constructor(
    terminal: Terminal,
    environment: Environment,
    { wordWrap, showThinking }: AnswerLook,
  ) {
    const { stdoutIsTerminal } = terminal;
    this.#terminal = terminal;
    this.#style = styleFor(stdoutIsTerminal, environment);
    this.#showsThinking = showThinking ?? stdoutIsTerminal;
    if (wordWrap && movesCursor(stdoutIsTerminal, environment)) {
      this.#wrap = new WordWrap(() => terminal.size().columns);
    }
  }

  /** Shows what a record of /api/chat or /api/generate carries. */
  print(record: OllamaRecord): void {
    const { thinking, content, toolCalls } = partsOf(record);
    if (thinking && this.#showsThinking) this.#think(thinking);
    if (content || toolCalls.length > 0) this.#endThinking();
    if (content) this.#write(content);
    for (const { function: { name, arguments: values } } of toolCalls) {
      this.#write(`${name}(${JSON.stringify(values)})\n`);
    }
  }

  /** Ends the last row, also if the answer was interrupted. */
  end(): void {
    this.#endThinking();
    if (!this.#endsRow) this.#terminal.write("\n");
  }

  #think(text: string): void {
    if (!this.#isThinking) this.#terminal.write(this.#style.dim("Thinking...") + "\n");
    this.#isThinking = true;
    this.#write(text, this.#style.dim);
  }

  #endThinking(): void {
    if (!this.#isThinking) return;
    this.#isThinking = false;
    const rowEnd = this.#endsRow ? "" : "\n";
    this.#write(rowEnd);
    this.#terminal.write(this.#style.dim("...done thinking.") + "\n\n");
  }

  #write(text: string, dress = (text: string) => text): void {
    if (text === "") return;
    const safe = this.#terminal.stdoutIsTerminal ? withoutControls(text) : text;
    this.#terminal.write(dress(this.#wrap?.push(safe) ?? safe));
    this.#endsRow = text.endsWith("\n");
  }
}

// Counts, times and rates of an answer, as `--verbose` prints them. Pure.

/** The table, from the members of a final record; times there are nanoseconds. */
export function formatStatistics(metrics: OllamaMetrics): string {
  const { total_duration, load_duration, prompt_eval_count, prompt_eval_duration } = metrics;
  const { prompt_cached_count = 0, eval_count, eval_duration } = metrics;
  const rows = [
    ["total duration", duration(total_duration)],
    ["load duration", duration(load_duration)],
    ["prompt eval count", count(prompt_eval_count)],
    ...(prompt_cached_count > 0 ? [["prompt cached", count(prompt_cached_count)] as const] : []),
    ["prompt eval duration", duration(prompt_eval_duration)],
    [
      "prompt eval rate",
      rate((prompt_eval_count ?? 0) - prompt_cached_count, prompt_eval_duration),
    ],
    ["eval count", count(eval_count)],
    ["eval duration", duration(eval_duration)],
    ["eval rate", rate(eval_count, eval_duration)],
  ];
  return rows.map(([name, value]) => `${`${name}:`.padEnd(22)}${value}\n`).join("");
}

function duration(nanoseconds = 0): string {
  return formatDuration(nanoseconds / 1e6);
}

function count(tokens = 0): string {
  return `${tokens} token(s)`;
}

function rate(tokens = 0, nanoseconds = 0): string {
  return nanoseconds > 0 ? `${(tokens * 1e9 / nanoseconds).toFixed(2)} tokens/s` : "-";
}

// Wraps a stream of text between words at the edge of the window. Text is shown as it comes: a word
// that turns out not to fit is erased from the end of its row and written again on the next.

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
    for (const { segment } of graphemes.segment(piece)) output += this.#append(segment, columns);
    return output;
  }

  /** A window that got narrower has wrapped the row by itself; words in it stay where they are. */
  #resize(columns: number): void {
    this.#lastColumns = columns;
    this.#column %= columns;
    this.#word = "";
  }

  #append(segment: string, columns: number): string {
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
