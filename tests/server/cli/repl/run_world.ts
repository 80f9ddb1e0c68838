// `quern run` against a fake server, with a fake terminal and a fake keyboard.

import { run, type RunOptions } from "../../../../server/cli/commands/run.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { FakeKeyboard, type Stroke } from "./fake_keyboard.ts";
import { FakeOllama, type FakeOllamaOptions } from "./fake_ollama.ts";

/** What a run is made of. */
export interface RunWorld {
  server?: FakeOllamaOptions;
  options?: RunOptions;
  /** Pieces of standard input, if it is no terminal. */
  piped?: string[];
  /** What is typed, if standard input is a terminal. */
  keys?: Stroke[];
  terminal?: FakeTerminal;
  environment?: Record<string, string>;
  model?: string;
}

/** How a run went. */
export interface RunResult {
  code: number;
  terminal: FakeTerminal;
  server: FakeOllama;
  keyboard: FakeKeyboard;
  // deno-lint-ignore no-explicit-any
  asked: any[];
}

/** A terminal that somebody sits at. */
export function personsTerminal(columns = 80): FakeTerminal {
  const terminal = new FakeTerminal([], true);
  terminal.stdoutIsTerminal = true;
  terminal.columns = columns;
  return terminal;
}

/** Runs a model with a prompt, or with what is typed. */
export async function runModel(
  prompt: string | undefined,
  { server, options = {}, piped, keys, environment = {}, model = "tiny", ...rest }: RunWorld = {},
): Promise<RunResult> {
  const fake = new FakeOllama(server);
  const keyboard = new FakeKeyboard(keys);
  const terminal = rest.terminal ?? (keys ? personsTerminal() : new FakeTerminal(piped));
  const dependencies = {
    open: () => Promise.reject(new Error("not reached")),
    inspect: () => Promise.reject(new Error("not reached")),
    terminal,
    environment,
    fetch: (input: Request | URL | string, init?: RequestInit) =>
      fake.handle(new Request(input, init)),
  };
  const code = await run(dependencies, model, prompt, options, keyboard);
  return { code, terminal, server: fake, keyboard, asked: fake.asked };
}

/** Types lines, one per read. */
export function lines(...texts: string[]): string[] {
  return texts.map((text) => `${text}\r`);
}

/** The contents of the messages of each request. */
// deno-lint-ignore no-explicit-any
export function contentsOf(asked: any[]): string[][] {
  return asked.map(({ messages }) => messages.map((turn: { content: string }) => turn.content));
}

/** What a person reads: output without the control sequences that draw it. */
export function spoken(output: string): string {
  // deno-lint-ignore no-control-regex
  return output.replace(/\x1b\[[?\d;]*[A-Za-z]/g, "").replace(/\r\n?/g, "\n");
}
