// The conversation at a terminal: prompts, commands and answers, one after the other. No fault of one
// of them ends the session; `/bye`, Ctrl-D and a request to terminate do.

import { INTERRUPTED } from "../terminal/interrupt.ts";
import { messageOf } from "../../log.ts";
import { movesCursor, styleFor } from "../terminal/mod.ts";
import { type CommandOutcome, isComplete, textOf } from "./command.ts";
import { isCommand, runCommand } from "./commands.ts";
import type { Keyboard } from "./keyboard.ts";
import { PlainReader, PromptReader, type Reader, type Typed } from "./prompt_reader.ts";
import type { Session } from "./session.ts";

/** Talks until the person leaves; gives the exit code. */
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
  /** Ends what is at work: an answer, a command, or the wait for a prompt. */
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
        // With the keyboard giving keys, Ctrl-C is one: an interrupt is a request to terminate.
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

  /** A history that cannot be written is told of once, and then left alone. */
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

/** With standard output elsewhere, what is typed shows where the errors do. */
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
