// The terminal as the commands use it, so that tests can do without one. It carries text in and out
// and says how large it is; what is drawn there is progress.ts and the REPL.

import { createInterface } from "node:readline";
import process from "node:process";

/** Columns and rows of a terminal, in characters. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The input and output of a command. */
export interface Terminal {
  /** Whether somebody types at standard input. */
  readonly stdinIsTerminal: boolean;
  /** Whether somebody reads standard output. */
  readonly stdoutIsTerminal: boolean;
  /** Whether somebody reads standard error. */
  readonly stderrIsTerminal: boolean;
  /** The present size of the window; 80 by 24 if there is none. */
  size(): TerminalSize;
  /** @throws {Deno.errors.BrokenPipe} if nobody reads it any more */
  write(text: string): void;
  /** @throws {Deno.errors.BrokenPipe} if nobody reads it any more */
  writeError(text: string): void;
  /** Writes to standard error while the program goes on. Resolves to how many bytes it took. */
  writeErrorBytes(bytes: Uint8Array): Promise<number>;
  /** All of standard input. */
  readAll(): Promise<string>;
  /** One line typed after the prompt; undefined at the end of input or after Ctrl-C. */
  readLine(prompt: string): Promise<string | undefined>;
  /** Calls back at Ctrl-C and at a request to terminate, until the returned function is called. */
  onInterrupt(callback: () => void): () => void;
}

const NO_WINDOW: TerminalSize = { columns: 80, rows: 24 };

/** The terminal of this process. */
export function systemTerminal(): Terminal {
  return {
    stdinIsTerminal: Deno.stdin.isTerminal(),
    stdoutIsTerminal: Deno.stdout.isTerminal(),
    stderrIsTerminal: Deno.stderr.isTerminal(),
    size,
    write: (text) => writeWhole(Deno.stdout, text),
    writeError: (text) => writeWhole(Deno.stderr, text),
    writeErrorBytes: (bytes) => Deno.stderr.write(bytes),
    readAll: () => new Response(Deno.stdin.readable).text(),
    readLine,
    onInterrupt,
  };
}

function size(): TerminalSize {
  try {
    const { columns, rows } = Deno.consoleSize();
    // A serial line or a window that is being made may say 0.
    return { columns: columns || NO_WINDOW.columns, rows: rows || NO_WINDOW.rows };
  } catch {
    return NO_WINDOW;
  }
}

function writeWhole(file: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(file.writeSync(rest));
}

/** The line editor lives for one line only, so that Ctrl-C between lines is a signal again. */
function readLine(prompt: string): Promise<string | undefined> {
  const editor = createInterface({ input: process.stdin, output: process.stdout });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  editor.once("SIGINT", () => editor.close());
  editor.once("close", () => resolve(undefined));
  editor.question(prompt, (line) => {
    resolve(line);
    editor.close();
  });
  return promise;
}

function onInterrupt(callback: () => void): () => void {
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, callback);
  return () => signals.forEach((signal) => Deno.removeSignalListener(signal, callback));
}
