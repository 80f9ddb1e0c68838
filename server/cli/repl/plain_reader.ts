// Reads messages line by line where nothing can be drawn: terminals that know no control sequences,
// such as a shell in an editor. They edit lines themselves.

import type { Terminal } from "../terminal/mod.ts";
import { CONTINUATION, PROMPT, type Reader, type Typed } from "./prompt_reader.ts";
import { isComplete } from "./command.ts";

/** Reads from a terminal's lines. */
export class PlainReader implements Reader {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async read(): Promise<Typed> {
    let text = await this.#terminal.readLine(PROMPT);
    while (text !== undefined && !isComplete(text)) {
      const line = await this.#terminal.readLine(CONTINUATION);
      text = line === undefined ? undefined : `${text}\n${line}`;
    }
    return text === undefined ? { kind: "end" } : { kind: "text", text };
  }
}
