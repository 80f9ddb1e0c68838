// The state of a run: one conversation, its settings, and how answers are shown. Commands change
// it; the REPL and runs with a single prompt ask through it.

import type { Environment } from "../../settings/environment.ts";
import type { Api, OllamaRecord } from "../client/mod.ts";
import { LiveLines, movesCursor, type ProgressRecord, type Terminal } from "../terminal/mod.ts";
import { withoutControls } from "../terminal/format.ts";
import { type AnswerLook, AnswerPrinter, formatStatistics } from "./answer_printer.ts";
import { type Conversation, partsOf, type TurnMedia } from "./conversation.ts";
import { History } from "./line_editor.ts";
import { can } from "./model_facts.ts";
import { extractFiles, readTexts, withTexts } from "./files.ts";

/** How answers are shown, and whether counts and rates follow. */
export interface SessionLook extends AnswerLook {
  verbose: boolean;
}

/** The parts of a session. */
export interface SessionOptions {
  api: Api;
  terminal: Terminal;
  environment: Environment;
  conversation: Conversation;
  look: SessionLook;
}

/** The state of a run. */
export class Session {
  readonly api: Api;
  readonly terminal: Terminal;
  readonly environment: Environment;
  readonly conversation: Conversation;
  readonly look: SessionLook;
  /** The lines that were typed. A history with a file outlives the session. */
  history = new History();

  constructor({ api, terminal, environment, conversation, look }: SessionOptions) {
    this.api = api;
    this.terminal = terminal;
    this.environment = environment;
    this.conversation = conversation;
    this.look = look;
  }

  /** Prints a line that is no answer. */
  say(text: string): void {
    const { stdoutIsTerminal, write, writeError } = this.terminal;
    (stdoutIsTerminal ? write : writeError)(`${text}\n`);
  }

  /** Prints a warning. */
  warn(text: string): void {
    this.terminal.writeError(`Warning: ${text}\n`);
  }

  /** Loads the model, with an indicator. */
  async load(signal: AbortSignal): Promise<void> {
    // A model that is loaded in this process shows its progress itself.
    using _waiting = this.api.inProcess
      ? undefined
      : this.#wait(`loading ${this.conversation.model.name}`);
    await this.conversation.load(signal);
  }

  /** Shows the conversation that the model was saved with. */
  showSaved(): void {
    for (const { role, content } of this.conversation.model.facts.messages ?? []) {
      const text = withoutControls(content ?? "");
      if (role === "user") this.say(`>>> ${text}`);
      else if (role === "assistant") this.say(`${text}\n`);
    }
  }

  /** Shows the answer to what was piped in and a prompt after it, without a conversation. */
  async answer(piped: string, prompt: string, signal: AbortSignal): Promise<void> {
    // A prompt without a template is continued as it stands.
    const whole = this.conversation.settings.raw ? prompt : await this.#readTexts(prompt);
    const { text, media } = await this.#readMedia([piped, whole].filter(Boolean).join("\n"));
    await this.#show(this.conversation.complete(text, media, signal));
  }

  /** Shows the answer to the next turn of the conversation. */
  async talk(typed: string, signal: AbortSignal): Promise<void> {
    const { text, media } = await this.#readMedia(await this.#readTexts(typed));
    try {
      await this.#show(this.conversation.ask(text, media, signal));
    } finally {
      this.say("");
    }
  }

  /** The prompt after the text files that it names. */
  async #readTexts(prompt: string): Promise<string> {
    const { HOME = "", USERPROFILE = "" } = this.environment;
    const { texts, unread } = await readTexts(prompt, HOME || USERPROFILE);
    for (const { path } of texts) this.terminal.writeError(`Added file '${path}'\n`);
    for (const { path, reason } of unread) {
      this.warn(`the model reads the name '${path}' alone: ${reason}`);
    }
    return withTexts(prompt, texts);
  }

  /** The text without the images and sounds that it names, as far as the model sees and hears. */
  async #readMedia(text: string): Promise<{ text: string; media: TurnMedia }> {
    const seen = await this.#readFiles("image", text);
    const heard = await this.#readFiles("sound", seen.text);
    return { text: heard.text, media: { images: seen.files, audio: heard.files } };
  }

  /** The text without the files of a kind, if the model can take them; else the text, and a warning. */
  async #readFiles(
    kind: "image" | "sound",
    text: string,
  ): Promise<{ text: string; files: string[] }> {
    const { name, facts } = this.conversation.model;
    const { HOME = "", USERPROFILE = "" } = this.environment;
    const { files, missing, text: rest } = await extractFiles(kind, text, HOME || USERPROFILE);
    const verb = kind === "image" ? "see" : "hear";
    if (!can(facts, kind === "image" ? "vision" : "audio")) {
      for (const { path } of files) {
        this.warn(
          `${name} cannot ${verb} ${kind}s: it reads the name '${path}', and nothing else of it`,
        );
      }
      return { text, files: [] };
    }
    for (const { path } of files) this.terminal.writeError(`Added ${kind} '${path}'\n`);
    for (const path of missing) {
      this.warn(`there is no file '${path}': the model reads its name, and ${verb}s no ${kind}`);
    }
    return { text: rest, files: files.map(({ base64 }) => base64) };
  }

  /** Shows an answer as it comes. After an error or an abort the row is ended before it throws. */
  async #show(records: AsyncIterable<OllamaRecord>): Promise<void> {
    const { terminal, environment, look, conversation } = this;
    // Wrapping would put line breaks into the strings of JSON.
    const wordWrap = look.wordWrap && conversation.settings.format === undefined;
    const printer = new AnswerPrinter(terminal, environment, { ...look, wordWrap });
    const waiting = this.#wait("");
    let final: OllamaRecord | undefined;
    try {
      for await (const record of records) {
        const { content, thinking, toolCalls } = partsOf(record);
        const isEmpty = !content && !thinking && toolCalls.length === 0;
        const { queued_ahead: ahead } = record;
        if (ahead !== undefined) waiting?.show({ status: `queued, ${ahead} ahead` });
        const { prompt_progress: read } = record;
        if (read && read.processed < read.total) {
          const percent = Math.floor(100 * read.processed / read.total);
          waiting?.show({ status: `reading the prompt, ${percent} %` });
        }
        if (!isEmpty || record.done) waiting?.[Symbol.dispose]();
        printer.print(record);
        if (record.done) final = record;
      }
    } finally {
      waiting?.[Symbol.dispose]();
      printer.end();
    }
    if (final?.dropped_messages) {
      const count = final.dropped_messages;
      this.warn(`the context window is full: the model did not see the oldest ${count} messages`);
    }
    if (final && look.verbose) terminal.writeError("\n" + formatStatistics(final));
  }

  #wait(status: string): WaitingLine | undefined {
    const { terminal, environment } = this;
    const { stdoutIsTerminal, stderrIsTerminal } = terminal;
    if (!stdoutIsTerminal || !movesCursor(stderrIsTerminal, environment)) return undefined;
    const waiting = new WaitingLine(terminal, status);
    if (!this.api.inProcess) waiting.watchLoad(this.api, this.conversation.model.name);
    return waiting;
  }
}

// The line that is shown until an answer comes: a spinner, how far the model is loaded, how many
// requests come first. It disappears when the answer begins.

/** How often the server is asked how far it is, in milliseconds. */
const INTERVAL = 250;

/** Shows what the program waits for, until disposal. */
class WaitingLine implements Disposable {
  readonly #terminal: Terminal;
  #lines: LiveLines | undefined;
  #status: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(terminal: Terminal, status: string) {
    this.#terminal = terminal;
    this.show({ status });
  }

  /** Shows this in place of what stood there. */
  show(record: ProgressRecord): void {
    if (record.status !== this.#status) {
      this.#lines?.[Symbol.dispose]();
      this.#lines = new LiveLines(this.#terminal, { transient: true });
      this.#status = record.status;
    }
    this.#lines!.update(record);
  }

  /** Starts asking the server how far the model is loaded; errors end that silently. */
  watchLoad(api: Api, model: string): void {
    this.#timer = setTimeout(async () => {
      try {
        const { models } = await api.json("/api/ps");
        const running = models.find(({ name }) => name === model || name === `${model}:latest`);
        if (this.#timer === undefined) return;
        if (running?.loading) this.show({ status: `loading ${model}`, ...running.loading });
        this.watchLoad(api, model);
      } catch {
        // The answer will tell what is wrong.
      }
    }, INTERVAL);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lines?.[Symbol.dispose]();
    this.#lines = undefined;
  }
}
