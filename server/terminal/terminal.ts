// The terminal as the commands use it, so that tests can do without one.
// No colours and no cursor games: plain text, and one line that progress overwrites.

import { createInterface } from "node:readline";
import process from "node:process";

/** Where a command reads and writes. */
export interface Terminal {
  /** Whether somebody types at standard input. */
  readonly stdinIsTerminal: boolean;
  /** Whether somebody reads standard error. */
  readonly stderrIsTerminal: boolean;
  write(text: string): void;
  writeError(text: string): void;
  /** All of standard input. */
  readAll(): Promise<string>;
  /** One line typed after the prompt; undefined at the end of input or after Ctrl-C. */
  readLine(prompt: string): Promise<string | undefined>;
  /** Calls back at Ctrl-C and at a request to terminate, until the returned function is called. */
  onInterrupt(callback: () => void): () => void;
}

/** The terminal of this process. */
export function systemTerminal(): Terminal {
  return {
    stdinIsTerminal: Deno.stdin.isTerminal(),
    stderrIsTerminal: Deno.stderr.isTerminal(),
    write: (text) => writeWhole(Deno.stdout, text),
    writeError: (text) => writeWhole(Deno.stderr, text),
    readAll: () => new Response(Deno.stdin.readable).text(),
    readLine,
    onInterrupt,
  };
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
