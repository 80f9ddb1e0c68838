// A conversation with a model: it keeps the messages, offers tools and runs their loop, gives typed
// answers, and remembers what it took. It stands on `chat` alone, so any ChatModel has sessions.

import { RequestError } from "../errors.ts";
import type { ChatMessage, ChatModel, ChatRequest, Usage } from "../types/mod.ts";
import { History, type HistoryNode, type SavedSession } from "./history.ts";
import { runTurn, sumUsage } from "./loop.ts";
import { jsonSchemaOf, type Schema, type ValueOf } from "./schema.ts";
import {
  type ApproveCall,
  messageOfResult,
  type SessionCall,
  type SessionTools,
  textOf,
  toolsOfRequest,
} from "./tools.ts";
import { Turn } from "./turn.ts";

/** Options of chats that a session leaves to its user: sampling, limits, thinking. */
export type SessionRequest = Omit<
  ChatRequest,
  "messages" | "tools" | "toolChoice" | "continueFinalMessage" | "context" | "signal"
>;

/** The bounds of a turn's loop. */
export interface LoopOptions {
  /**
   * Most answers of the model in a turn. In the last one its tools are not offered, so that it ends with
   * text. Default 10.
   */
  maxRounds?: number;
  /** Most calls that are carried out in a turn; further ones are refused. Default 50. */
  maxCalls?: number;
  /** Most calls that run at a time. Default: all that the model makes in an answer. */
  concurrency?: number;
  /** How often the model may mend a structured answer that its validator refuses. Default 1. */
  retries?: number;
  /** Decides about each call before it runs. Default: all may run. */
  approve?: ApproveCall;
}

/** What a session is made of; the options of chats are those of every turn. */
export interface SessionOptions extends SessionRequest, LoopOptions {
  /** The system prompt. */
  system?: string;
  /** Tools that the model may call, by name. */
  tools?: SessionTools;
}

/** The options of a turn, before those of the session. */
export interface SendOptions<S extends Schema = Schema> extends SessionRequest, LoopOptions {
  /** Pictures beside the text, as bytes of files or their base64. */
  images?: readonly (Uint8Array | string)[];
  /** Sounds beside the text, for models that hear, likewise. */
  audio?: readonly (Uint8Array | string)[];
  /** The schema of the answer: its text is a document of it, and `value` what the validator gives. */
  schema?: S;
  /** The JSON Schema that the mask enforces, where the validator in `schema` gives none. */
  jsonSchema?: Record<string, unknown>;
  /** Whether the first answer has to call tools, as for chats. Later ones may. Default "auto". */
  toolChoice?: ChatRequest["toolChoice"];
  /** Aborting it ends the turn. */
  signal?: AbortSignal;
}

/** The result of a call that waited for the program. */
export interface GivenResult {
  /** Id of the call. */
  id: string;
  /** What is told to the model: text as it is, other values as JSON. */
  result?: unknown;
  /** What went wrong instead. */
  error?: string;
}

/** A model with sessions. */
export interface SessionModel {
  /** Begins a conversation. Errors: RequestError for a tool whose schema cannot be had. */
  session(options?: SessionOptions): Session;
}

const LOOP = { maxRounds: 10, maxCalls: 50, concurrency: Infinity, retries: 1 };

/** A conversation. */
export class Session {
  readonly #model: Pick<ChatModel, "chat">;
  readonly #options: SessionOptions;
  readonly #offered: Pick<ChatRequest, "tools">;
  #history = new History();
  #usage: Usage | undefined;
  #isAnswering = false;

  /**
   * Begins a conversation, as `model.session()` does, with any model that chats.
   *
   * @throws {RequestError} for an option out of range, or a tool whose schema cannot be had
   */
  constructor(model: Pick<ChatModel, "chat">, options: SessionOptions = {}) {
    this.#model = model;
    this.#options = { ...options };
    checkLoop(options);
    const tools = toolsOfRequest(options.tools ?? {});
    this.#offered = tools.length > 0 ? { tools } : {};
  }

  /** The conversation, without the system prompt. */
  get messages(): readonly ChatMessage[] {
    return this.#history.messages;
  }

  /** All messages of all branches, in the order in which they came. */
  get nodes(): readonly HistoryNode[] {
    return this.#history.nodes;
  }

  /** Id of the last message of the conversation; undefined: it has none. */
  get head(): string | undefined {
    return this.#history.head;
  }

  /** Counts and times of all turns of this session; undefined before the first. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Calls of the last message that wait for `answerCalls`. */
  get pending(): readonly SessionCall[] {
    const { messages } = this.#history;
    const last = messages.findLastIndex(({ role }) => role !== "tool");
    const answered = new Set(messages.slice(last + 1).map(({ toolCallId }) => toolCallId));
    return (messages[last]?.toolCalls ?? [])
      .filter(({ id }) => !answered.has(id))
      .map(({ id, function: { name, arguments: given } }) => ({ id: id!, name, arguments: given }));
  }

  /**
   * Says something to the model, which answers, calls tools and answers again. Errors, of the turn:
   * those of `chat`, AnswerError, the signal's reason. A turn that fails leaves the conversation as it
   * was.
   *
   * @throws {RequestError} while another turn is under way, or calls wait for results
   */
  send<const S extends Schema>(
    text: string,
    options: SendOptions<S> & { schema: S },
  ): Turn<ValueOf<S>>;
  /** Says something to the model, whose answer is a text. */
  send(text: string, options?: SendOptions): Turn;
  send(text: string, options: SendOptions = {}): Turn<unknown> {
    const [waiting] = this.pending;
    if (waiting) {
      throw new RequestError(
        `Cannot send: the call of "${waiting.name}" waits for its result; give it with answerCalls`,
      );
    }
    const { images, audio } = options;
    const media = { ...(images && { images }), ...(audio && { audio }) };
    return this.#begin([{ role: "user", content: text, ...media }], options);
  }

  /**
   * Gives the results of pending calls, all of them, and lets the model go on. Errors: those of `send`.
   *
   * @throws {RequestError} for a result of no pending call, and for a call without a result
   */
  answerCalls<const S extends Schema>(
    results: readonly GivenResult[],
    options: SendOptions<S> & { schema: S },
  ): Turn<ValueOf<S>>;
  /** Gives the results of pending calls; the answer is a text. */
  answerCalls(results: readonly GivenResult[], options?: SendOptions): Turn;
  answerCalls(results: readonly GivenResult[], options: SendOptions = {}): Turn<unknown> {
    const { pending } = this;
    const unknown = results.find(({ id }) => pending.every((call) => call.id !== id));
    if (unknown) {
      throw new RequestError(`Cannot answer the call "${unknown.id}": no such call is pending`);
    }
    const given = pending.map((call) => {
      const found = results.find(({ id }) => id === call.id);
      if (!found) {
        throw new RequestError(`Cannot answer the calls: that of "${call.name}" has no result`);
      }
      const isError = found.error !== undefined;
      const content = isError ? `Error: ${found.error}` : textOf(found.result);
      return messageOfResult({ ...call, content, isError });
    });
    if (given.length === 0) throw new RequestError("Cannot answer calls: none is pending");
    return this.#begin(given, options);
  }

  /** Lets the model answer the last message of the user again, as a branch beside the first answer. */
  regenerate(options: SendOptions = {}): Turn {
    const asked = this.#history.path.findLast(({ message }) => message.role === "user");
    if (!asked) throw new RequestError("Cannot answer again: nothing was asked yet");
    this.#refuseWhileAnswering("answer again");
    const before = this.#history.head;
    this.#history.goTo(asked.id);
    return this.#begin([], options, before) as Turn;
  }

  /** Adds messages to the conversation without asking the model, such as examples. */
  append(...messages: readonly ChatMessage[]): void {
    this.#refuseWhileAnswering("append messages");
    this.#history.append(messages);
  }

  /**
   * Goes to a message of any branch: the next turn follows it.
   *
   * @param id undefined: before the first message
   * @throws {RequestError} if there is no such message, or a turn is under way
   */
  goTo(id: string | undefined): void {
    this.#refuseWhileAnswering("go to another message");
    this.#history.goTo(id);
  }

  /** A session that begins with this one's history and goes its own way, also at the same time. */
  fork(options: SessionOptions = {}): Session {
    const fork = new Session(this.#model, { ...this.#options, ...options });
    fork.#history = this.#history.copy();
    return fork;
  }

  /** All branches as JSON; functions and options are not part of it. */
  save(): SavedSession {
    const { system } = this.#options;
    const saved = this.#history.save();
    return {
      format: "quern.session",
      version: 1,
      ...(system !== undefined && { system }),
      ...saved,
    };
  }

  /**
   * Puts a saved history, and its system prompt, in the place of this one.
   *
   * @throws {RequestError} for what is no saved session, and while a turn is under way
   */
  load(saved: SavedSession): this {
    this.#refuseWhileAnswering("load");
    this.#history = History.load(saved);
    if (saved.system !== undefined) this.#options.system = saved.system;
    else delete this.#options.system;
    return this;
  }

  #begin(
    given: readonly ChatMessage[],
    options: SendOptions,
    headAfterFailure = this.#history.head,
  ): Turn<unknown> {
    this.#refuseWhileAnswering("send");
    checkLoop(options);
    const all = { ...this.#options, ...options };
    const {
      images: _images,
      audio: _audio,
      schema,
      jsonSchema,
      signal,
      system,
      tools = {},
      approve,
      maxRounds = LOOP.maxRounds,
      maxCalls = LOOP.maxCalls,
      concurrency = LOOP.concurrency,
      retries = LOOP.retries,
      toolChoice,
      ...request
    } = all as SessionOptions & SendOptions;
    const enforced = jsonSchema ?? (schema && jsonSchemaOf(schema, "the answer"));
    const plan = {
      model: this.#model,
      request: {
        ...request,
        ...this.#offered,
        ...(toolChoice !== undefined && { toolChoice }),
        ...(enforced && { format: { schema: enforced } }),
      },
      before: [
        ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
        ...this.#history.messages,
      ],
      given,
      schema,
      tools,
      approve,
      ...{ maxRounds, maxCalls, concurrency, retries },
    };
    this.#isAnswering = true;
    return new Turn(async (tell, signal) => {
      try {
        const answer = await runTurn(plan, tell, signal);
        this.#history.append(answer.messages);
        this.#usage = sumUsage(this.#usage, answer.usage);
        return answer;
      } catch (error) {
        this.#history.goTo(headAfterFailure);
        throw error;
      } finally {
        this.#isAnswering = false;
      }
    }, signal);
  }

  #refuseWhileAnswering(action: string): void {
    if (!this.#isAnswering) return;
    throw new RequestError(
      `Cannot ${action}: the session is answering; wait for its turn, or fork the session`,
    );
  }
}

/** @throws {RequestError} for a bound that is none */
function checkLoop(options: LoopOptions): void {
  for (const name of ["maxRounds", "maxCalls", "concurrency", "retries"] as const) {
    const value = options[name];
    const least = name === "maxRounds" || name === "concurrency" ? 1 : 0;
    if (value === undefined || value >= least) continue;
    throw new RequestError(
      `Cannot run a session: ${name} is ${value}, it must be at least ${least}`,
    );
  }
}
