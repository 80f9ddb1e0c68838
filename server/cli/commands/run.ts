// `quern run MODEL [PROMPT]`: one answer to a prompt, or a conversation at a terminal, over the HTTP
// API. A model that is not there is pulled first; an embedding model gives the vector of the prompt.

import { join, resolve } from "node:path";
import { parseExactJson } from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
import { readValues } from "../../settings/environment.ts";
import { type Api, connect } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import {
  can,
  Conversation,
  findModel,
  History,
  type Keyboard,
  type NamedModel,
  type RequestSettings,
  runRepl,
  Session,
  systemKeyboard,
} from "../repl/mod.ts";
import { interruptible } from "../terminal/interrupt.ts";
import type { Terminal } from "../terminal/mod.ts";

/**
 * Answers one prompt, which follows the text of a piped standard input; or, at a terminal without a
 * prompt, holds a conversation until `/bye`.
 *
 * @returns the exit code; 130 after an interrupt
 */
export async function run(
  dependencies: CliDependencies,
  model: string,
  prompt: string | undefined,
  options: RunOptions,
  keyboard: Keyboard = systemKeyboard(),
): Promise<number> {
  const { terminal } = dependencies;
  const name = isPath(model) ? resolve(model) : model;
  const piped = await readPiped(terminal);
  const text = [piped, prompt].some((part) => part !== undefined)
    ? [piped, prompt].filter(Boolean).join("\n")
    : undefined;
  await using api = await connect(dependencies);
  // While it is asked what the model is.
  if (api.inProcess) dependencies.memory?.startAhead?.();
  let session: Session | undefined;
  const code = await interruptible(terminal, async (signal) => {
    const facts = await findModel(name, { ...dependencies, ...options, api, signal });
    if (!can(facts, "completion") && can(facts, "embedding")) {
      await printVector(terminal, api, { model: name, text, options, signal });
      return 0;
    }
    session = await openSession(dependencies, api, { name, facts }, options);
    // Load before a single answer too, so that the progress of a load is gone when the answer begins.
    if (text === undefined || api.inProcess) await session.load(signal);
    if (text !== undefined) await session.answer(piped ?? "", prompt ?? "", signal);
    return 0;
  });
  if (!session || text !== undefined || code !== 0) return code;
  session.history = await openHistory(dependencies);
  return await runRepl(session, keyboard);
}

/** The text that was piped in; undefined at a terminal. */
async function readPiped(terminal: Terminal): Promise<string | undefined> {
  if (terminal.stdinIsTerminal) return undefined;
  // Every file ends with a line feed.
  return (await terminal.readAll()).replace(/\r?\n$/, "");
}

async function openSession(
  { terminal, environment }: CliDependencies,
  api: Api,
  model: NamedModel,
  options: RunOptions,
): Promise<Session> {
  const settings = await readRunSettings(options);
  if (settings.think && !can(model.facts, "thinking")) {
    terminal.writeError(
      `Warning: --think is left out: "${model.name}" does not support thinking\n`,
    );
  }
  return new Session({
    api,
    terminal,
    environment,
    conversation: new Conversation(api, model, settings),
    look: {
      wordWrap: !options.nowordwrap,
      // Scripts that do not ask for thinking want only the answer.
      showThinking: options.hidethinking ? false : options.think ? true : undefined,
      verbose: options.verbose ?? false,
    },
  });
}

/** The history of inputs. If its file cannot be read, the conversation works without it. */
async function openHistory({ environment, terminal }: CliDependencies): Promise<History> {
  const { HOME, USERPROFILE } = environment;
  const home = HOME || USERPROFILE;
  const isOff = readValues(environment).noHistory;
  if (isOff || !home) return new History(undefined, [], !isOff);
  try {
    return await History.load(join(home, ".quern", "history"));
  } catch (error) {
    terminal.writeError(`Warning: what was typed before is not there: ${messageOf(error)}\n`);
    return new History();
  }
}

interface VectorRequest {
  model: string;
  text: string | undefined;
  options: RunOptions;
  signal: AbortSignal;
}

async function printVector(terminal: Terminal, api: Api, request: VectorRequest): Promise<void> {
  const { model, text, options: { dimensions, truncate, keepalive }, signal } = request;
  if (!text) {
    throw new Error(
      `Cannot talk with "${model}": it is an embedding model, which gives vectors of texts; ` +
        `give it one: \`quern run ${model} "a text"\``,
    );
  }
  const { embeddings } = await api.json("/api/embed", {
    model,
    input: text,
    ...(dimensions !== undefined && { dimensions }),
    ...(truncate !== undefined && { truncate }),
    ...(keepalive !== undefined && { keep_alive: keepalive }),
  }, { signal });
  terminal.write(`${JSON.stringify(embeddings[0])}\n`);
}

/**
 * Whether a text is a path: its beginning or its ending tells it from a name, which may have
 * slashes too.
 */
export function isPath(model: string): boolean {
  return /^(?:\.{0,2}[\\/]|[A-Za-z]:[\\/])|\.gguf$/i.test(model);
}

// The options of `quern run`, and what requests of the API make of them.

/** Options of the command line. */
export interface RunOptions {
  temperature?: number;
  seed?: number;
  numPredict?: number;
  /** Window in tokens. */
  ctx?: number;
  /** System message. */
  system?: string;
  /** "json", the text of a JSON Schema, or the path of a file with one. */
  format?: string;
  /** Whether, or how much, the model thinks first. */
  think?: boolean | string;
  hidethinking?: boolean;
  nowordwrap?: boolean;
  /** No chat template. */
  raw?: boolean;
  /** How long the model stays in memory, such as "5m". */
  keepalive?: string;
  /** Counts and rates after each answer. */
  verbose?: boolean;
  /** Pull over plain HTTP or with any certificate. */
  insecure?: boolean;
  /** Of an embedding model: whether a text that the window cannot hold is cut. */
  truncate?: boolean;
  /** Of an embedding model: length of the vector. */
  dimensions?: number;
}

/**
 * The settings of requests.
 *
 * @throws {Error} if the format is none
 */
async function readRunSettings(options: RunOptions): Promise<RequestSettings> {
  const { temperature, seed, numPredict, ctx, system, think, keepalive, raw, format } = options;
  return {
    options: {
      ...(temperature !== undefined && { temperature }),
      ...(seed !== undefined && { seed }),
      ...(numPredict !== undefined && { num_predict: numPredict }),
      ...(ctx !== undefined && { num_ctx: ctx }),
    },
    system,
    think,
    keepAlive: keepalive,
    raw,
    ...(format && { format: await readFormat(format) }),
  };
}

async function readFormat(format: string): Promise<unknown> {
  if (format === "json") return format;
  const isSchema = format.trimStart().startsWith("{");
  try {
    return parseExactJson(isSchema ? format : await Deno.readTextFile(format));
  } catch (error) {
    throw new Error(
      `Cannot use the format ${
        isSchema ? "" : `"${format}"`
      }: it must be json, a JSON Schema, or ` +
        `the path of a file with one: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
