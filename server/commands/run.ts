// `quern run MODEL [PROMPT]`: loads the model in this process and streams its text to standard
// output; everything else goes to standard error. A model without a chat template continues the
// prompt as it stands, so an empty one makes it begin from BOS alone.

import { resolve } from "node:path";
import {
  type ChatEvent,
  type ChatMessage,
  type ChatModel,
  type LimitOptions,
  ModelClosedError,
  ModelStore,
  type SamplingOptions,
  type Usage,
} from "../../engine/mod.ts";
import { messageOf } from "../errors.ts";
import { readSettings } from "../settings.ts";
import { showLoadProgress } from "../terminal/progress.ts";
import { formatDuration } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { CliDependencies } from "./dependencies.ts";

/** Options of the command line. */
export interface RunOptions {
  temperature?: number;
  seed?: number;
  numPredict?: number;
  /** Window in tokens. */
  ctx?: number;
  /** No chat template. */
  raw?: boolean;
  /** Counts and rates after each answer. */
  verbose?: boolean;
}

/** Exit code of a process that Ctrl-C ended. */
const INTERRUPTED = 130;

/**
 * Answers one prompt (the argument, or all of a piped standard input), or, at a terminal without
 * a prompt, one after the other until `/bye`.
 */
export async function run(
  dependencies: CliDependencies,
  name: string,
  prompt: string | undefined,
  options: RunOptions,
): Promise<number> {
  const { open, inspect, terminal, environment } = dependencies;
  const settings = readSettings(environment);
  const store = new ModelStore({ folder: settings.models, inspect, allowPaths: true });
  const entry = await store.find(/\.gguf$/i.test(name) ? resolve(name) : name);
  if (entry.info.isEmbeddingModel) {
    throw new Error(`Cannot run "${name}": it is an embedding model, which gives no text`);
  }

  let abort = new AbortController();
  const forget = terminal.onInterrupt(() => abort.abort());
  const contextLength = options.ctx ?? settings.contextLength;
  const started = performance.now();
  let model: ChatModel | undefined;
  try {
    model = await open(entry.path, {
      // One conversation runs at a time, so the whole KV cache may be its own.
      maxSequences: 1,
      ...(contextLength !== undefined && { contextLength }),
      ...(terminal.stderrIsTerminal && { onProgress: showLoadProgress(terminal) }),
      signal: abort.signal,
    });
    const talk = new Talk(model, terminal, options);
    talk.loadMilliseconds = performance.now() - started;
    if (prompt === undefined && terminal.stdinIsTerminal) {
      for await (const line of promptLines(terminal)) {
        abort = new AbortController();
        if (line === "/clear") talk.clear();
        else await reportFailure(terminal, talk.answer(line, abort.signal));
      }
      return 0;
    }
    await talk.answer(prompt ?? await readPrompt(terminal), abort.signal);
    return abort.signal.aborted ? INTERRUPTED : 0;
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    forget();
    await model?.close();
  }
}

/** One conversation; or, without a chat template, texts that know nothing of each other. */
class Talk {
  loadMilliseconds = 0;
  readonly #model: ChatModel;
  readonly #terminal: Terminal;
  readonly #options: RunOptions;
  #messages: ChatMessage[] = [];

  constructor(model: ChatModel, terminal: Terminal, options: RunOptions) {
    this.#model = model;
    this.#terminal = terminal;
    this.#options = options;
  }

  clear(): void {
    this.#messages = [];
  }

  /** Streams the answer; an abort ends it early and keeps what there is. */
  async answer(prompt: string, signal: AbortSignal): Promise<void> {
    const messages: ChatMessage[] = [...this.#messages, { role: "user", content: prompt }];
    let content = "";
    let usage: Usage | undefined;
    for await (const event of this.#start(prompt, messages, signal)) {
      if (event.type === "done") usage = event.usage;
      if (event.type === "thinking") this.#terminal.writeError(event.text);
      if (event.type !== "text") continue;
      this.#terminal.write(event.text);
      content += event.text;
    }
    this.#terminal.write("\n");
    this.#messages = [...messages, { role: "assistant", content }];
    if (usage && this.#options.verbose) {
      this.#terminal.writeError(formatStatistics(usage, this.loadMilliseconds));
    }
  }

  #start(
    prompt: string,
    messages: ChatMessage[],
    signal: AbortSignal,
  ): AsyncIterable<ChatEvent> {
    const settings = { ...toEngineOptions(this.#options), signal };
    return this.#options.raw || !this.#model.info.hasChatTemplate
      ? this.#model.generate({ prompt, ...settings })
      : this.#model.chat({ messages, ...settings });
  }
}

/** At a prompt, a request that fails is no reason to lose the conversation; a dead model is. */
async function reportFailure(terminal: Terminal, answer: Promise<void>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof ModelClosedError) throw error;
    terminal.writeError(`Error: ${messageOf(error)}\n`);
  }
}

async function* promptLines(terminal: Terminal): AsyncGenerator<string> {
  for (;;) {
    const line = await terminal.readLine(">>> ");
    if (line === undefined || line === "/bye") return;
    if (line === "/?") terminal.writeError("/clear forgets the conversation, /bye ends\n");
    else if (line !== "") yield line;
  }
}

/** All of standard input, less the line feed that every file ends with. */
async function readPrompt(terminal: Terminal): Promise<string> {
  return (await terminal.readAll()).replace(/\r?\n$/, "");
}

function toEngineOptions(options: RunOptions): SamplingOptions & LimitOptions {
  const { temperature, seed, numPredict } = options;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(seed !== undefined && { seed }),
    ...(numPredict !== undefined && numPredict >= 0 && { maxTokens: numPredict }),
  };
}

function formatStatistics(usage: Usage, loadMilliseconds: number): string {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  const { promptMilliseconds, completionMilliseconds } = usage;
  const total = loadMilliseconds + promptMilliseconds + completionMilliseconds;
  const rows = [
    ["total duration", formatDuration(total)],
    ["load duration", formatDuration(loadMilliseconds)],
    ["prompt eval count", `${promptTokens} token(s), ${cachedTokens} cached`],
    ["prompt eval duration", formatDuration(promptMilliseconds)],
    ["prompt eval rate", formatRate(promptTokens - cachedTokens, promptMilliseconds)],
    ["eval count", `${completionTokens} token(s)`],
    ["eval duration", formatDuration(completionMilliseconds)],
    // The first token comes with the prompt.
    ["eval rate", formatRate(completionTokens - 1, completionMilliseconds)],
  ];
  return "\n" + rows.map(([name, value]) => `${`${name}:`.padEnd(22)}${value}\n`).join("");
}

function formatRate(tokens: number, milliseconds: number): string {
  if (tokens <= 0 || milliseconds <= 0) return "-";
  return `${(tokens * 1000 / milliseconds).toFixed(2)} tokens/s`;
}
