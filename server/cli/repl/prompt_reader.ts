// Reads one message after the other from the keyboard, with a line editor that draws itself; or line by
// line on terminals that know no control sequences, such as a shell in an editor, and edit lines
// themselves. Between two messages the keyboard is silent: what is typed during an answer waits for the
// next prompt.

import type { Terminal, TerminalSize } from "../terminal/mod.ts";
import { isComplete } from "./command.ts";
import { type Key, type Keyboard, KeyDecoder } from "./keys.ts";
import { LineEditor } from "./line_editor.ts";
import { type EditorView, Screen } from "./screen.ts";

/** The result of a prompt: a text, a text that was cancelled, or the end of all input. */
export type Typed =
  | { kind: "text"; text: string }
  | { kind: "cancelled"; text: string }
  | { kind: "end" };

/** Reads messages. */
export interface Reader {
  /**
   * Prompts for a text, with those typed before, the oldest first. An abort is the end of all
   * input.
   */
  read(history: readonly string[], signal: AbortSignal): Promise<Typed>;
}

/** The parts that a reader needs. */
export interface PromptReaderOptions {
  keyboard: Keyboard;
  /** Draws on the terminal. */
  write: (text: string) => void;
  size: () => TerminalSize;
  /** The text that is shown while the input is empty, and its style. */
  placeholder: string;
  dim: (text: string) => string;
  /** Whether Enter ends this text. */
  isComplete: (text: string) => boolean;
}

/** Before the first line of a message, and before each further one. */
export const PROMPT = ">>> ";

const CONTINUATION = "... ";

/** Has the terminal mark what is pasted, so that its line feeds are no Enter. */
const BRACKETED_PASTE = { on: "\x1b[?2004h", off: "\x1b[?2004l" };

/** Reads from a keyboard. */
export class PromptReader implements Reader {
  readonly #options: PromptReaderOptions;
  readonly #decoder = new KeyDecoder();
  readonly #screen: Screen;
  /** Keys that came with the last read and are not used yet. */
  #keys: Key[] = [];
  /** A read that an abort left pending; its bytes are for the next prompt. */
  #pending: Promise<Uint8Array | undefined> | undefined;

  constructor(options: PromptReaderOptions) {
    this.#options = options;
    this.#screen = new Screen(options.write, options.dim);
  }

  async read(history: readonly string[], signal: AbortSignal): Promise<Typed> {
    const { keyboard, write, isComplete } = this.#options;
    const editor = new LineEditor({ history, isComplete });
    const forget = keyboard.onResize(() => this.#draw(editor));
    this.#begin();
    try {
      return await this.#edit(editor, signal);
    } finally {
      forget();
      this.#screen.leave(this.#view(editor), this.#options.size());
      write(BRACKETED_PASTE.off);
      keyboard.setMode("silent");
    }
  }

  #begin(): void {
    this.#options.keyboard.setMode("keys");
    this.#options.write(BRACKETED_PASTE.on);
  }

  async #edit(editor: LineEditor, signal: AbortSignal): Promise<Typed> {
    for (;;) {
      for (let key; (key = this.#keys.shift());) {
        const action = editor.press(key);
        if (action === "submit") return { kind: "text", text: editor.text };
        if (action === "cancel") return { kind: "cancelled", text: editor.text };
        if (action === "end") return { kind: "end" };
        if (action === "clear") this.#screen.clear();
        if (action === "suspend") this.#suspend(editor);
      }
      this.#draw(editor);
      const bytes = await this.#bytes(signal);
      if (!bytes) return { kind: "end" };
      this.#keys.push(...this.#decoder.push(bytes));
    }
  }

  async #bytes(signal: AbortSignal): Promise<Uint8Array | undefined> {
    this.#pending ??= this.#options.keyboard.read();
    const aborted = Promise.withResolvers<undefined>();
    const onAbort = () => aborted.resolve(undefined);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    const bytes = await Promise.race([this.#pending, aborted.promise]);
    signal.removeEventListener("abort", onAbort);
    if (!signal.aborted) this.#pending = undefined;
    return bytes;
  }

  #suspend(editor: LineEditor): void {
    const { keyboard, write, size } = this.#options;
    this.#screen.leave(this.#view(editor), size());
    write(BRACKETED_PASTE.off);
    keyboard.setMode("lines");
    keyboard.suspend();
    this.#begin();
  }

  #draw(editor: LineEditor): void {
    this.#screen.draw(this.#view(editor), this.#options.size());
  }

  #view({ text, cursor, query }: LineEditor): EditorView {
    return {
      prompt: query === undefined ? PROMPT : `(search "${query}") `,
      continuation: CONTINUATION,
      text,
      cursor,
      placeholder: query === undefined ? this.#options.placeholder : "",
    };
  }
}

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
