// A terminal that records what is written and types what it is told to.

import type { Terminal, TerminalSize } from "../../../server/cli/terminal/terminal.ts";

/** The terminal, and what was written to it. */
export class FakeTerminal implements Terminal {
  output = "";
  errors = "";
  stdinIsTerminal: boolean;
  stdoutIsTerminal = false;
  stderrIsTerminal = false;
  columns = 80;
  rows = 24;
  readonly #input: string[];
  readonly #callbacks = new Set<() => void>();

  /** @param input lines to type, or, not being a terminal, the pieces of standard input */
  constructor(input: string[] = [], stdinIsTerminal = false) {
    this.#input = [...input];
    this.stdinIsTerminal = stdinIsTerminal;
  }

  size = (): TerminalSize => ({ columns: this.columns, rows: this.rows });
  write = (text: string): void => void (this.output += text);
  writeError = (text: string): void => void (this.errors += text);
  writeErrorBytes = (bytes: Uint8Array): Promise<number> => {
    this.writeError(new TextDecoder().decode(bytes));
    return Promise.resolve(bytes.length);
  };
  readAll = (): Promise<string> => Promise.resolve(this.#input.splice(0).join(""));
  readLine = (): Promise<string | undefined> => Promise.resolve(this.#input.shift());

  onInterrupt = (callback: () => void): () => void => {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  };

  /** Ctrl-C. */
  interrupt(): void {
    for (const callback of this.#callbacks) callback();
  }

  /** How many listeners for interrupts are left. */
  get listeners(): number {
    return this.#callbacks.size;
  }
}
