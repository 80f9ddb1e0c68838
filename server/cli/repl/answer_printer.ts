// Writes an answer as it comes: thinking is dimmed between two lines that say so, then follows the
// text. On a terminal it is wrapped, and control sequences are removed; a file or pipe gets the
// text unchanged, and thinking only if it was asked for.

import type { Environment } from "../../settings/environment.ts";
import { movesCursor, type Style, styleFor, type Terminal } from "../terminal/mod.ts";
import type { OllamaRecord } from "../client/mod.ts";
import { partsOf } from "./conversation.ts";
import { withoutControls } from "../terminal/width.ts";
import { WordWrap } from "./word_wrap.ts";

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
