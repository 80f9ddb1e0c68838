// The conversation at a terminal: prompts, commands and answers, one after the other. Errors do not end
// the session; `/bye`, Ctrl-D and a signal to terminate do.

import { INTERRUPTED } from "../terminal/interrupt.ts";
import { messageOf } from "../../log.ts";
import { movesCursor, styleFor } from "../terminal/mod.ts";
import { type CommandOutcome, isComplete, textOf } from "./command.ts";
import { isCommand, runCommand } from "./commands.ts";
import type { Keyboard } from "./keys.ts";
import { PlainReader, PromptReader, type Reader, type Typed } from "./prompt_reader.ts";
import type { Session } from "./session.ts";

/** Runs the conversation until the person leaves; returns the exit code. */
export async function runRepl(session: Session, keyboard: Keyboard): Promise<number> {
  const repl = new Repl(session, keyboard);
  try {
    return await repl.run();
  } finally {
    keyboard.setMode("lines");
  }
}

class Repl {
  readonly #session: Session;
  readonly #reader: Reader;
  /** Aborts the current answer, command, or wait for a prompt. */
  #abort = new AbortController();

  constructor(session: Session, keyboard: Keyboard) {
    this.#session = session;
    this.#reader = createReader(session, keyboard);
  }

  async run(): Promise<number> {
    const { terminal, history } = this.#session;
    this.#session.showSaved();
    const forget = terminal.onInterrupt(() => this.#abort.abort());
    try {
      for (;;) {
        this.#abort = new AbortController();
        const { signal } = this.#abort;
        const typed = await this.#reader.read(history.entries, signal);
        // While keys are read, Ctrl-C is a key. So a signal is a request to terminate.
        if (signal.aborted) return INTERRUPTED;
        if (await this.#take(typed, signal) === "leave") return 0;
      }
    } finally {
      forget();
    }
  }

  async #take(typed: Typed, signal: AbortSignal): Promise<CommandOutcome> {
    if (typed.kind === "end") return "leave";
    if (typed.kind === "cancelled") {
      if (typed.text === "") this.#session.say("Use Ctrl + d or /bye to exit.");
      return;
    }
    if (typed.text.trim() === "") return;
    await this.#remember(typed.text);
    try {
      if (isCommand(typed.text)) return await runCommand(typed.text, this.#session, signal);
      await this.#session.talk(textOf(typed.text), signal);
    } catch (error) {
      if (error instanceof Deno.errors.BrokenPipe) throw error;
      if (!signal.aborted) this.#session.terminal.writeError(`Error: ${messageOf(error)}\n`);
    }
  }

  /** Adds to the history. After the first error the person is warned, and nothing more is written. */
  async #remember(text: string): Promise<void> {
    const { history } = this.#session;
    try {
      await history.add(text);
    } catch (error) {
      history.enabled = false;
      this.#session.warn(`what is typed is not kept: ${messageOf(error)}`);
    }
  }
}

/**
 * The reader that the terminal allows. If standard output is redirected, typing shows on standard
 * error.
 */
function createReader({ terminal, environment }: Session, keyboard: Keyboard): Reader {
  const { stdoutIsTerminal, stderrIsTerminal } = terminal;
  const isTerminal = stdoutIsTerminal || stderrIsTerminal;
  if (!movesCursor(isTerminal, environment)) return new PlainReader(terminal);
  return new PromptReader({
    keyboard,
    write: stdoutIsTerminal ? terminal.write : terminal.writeError,
    size: terminal.size,
    placeholder: "Send a message (/? for help)",
    dim: styleFor(isTerminal, environment).dim,
    isComplete,
  });
}
