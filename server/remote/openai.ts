// Servers with OpenAI's API, such as vLLM, SGLang, Ray Serve and llm-d: chunks of server-sent events ->
// our events. Format: https://platform.openai.com/docs/api-reference/chat-streaming

import {
  type ChatEvent,
  type ChatRequest,
  continuesFinalMessage,
  type DoneEvent,
  type EmbedRequest,
  type EmbedResult,
  type GenerateEvent,
  type GenerateRequest,
  RequestError,
  type TokenLogprob,
} from "../../engine/mod.ts";
import { given } from "../given.ts";
import { errorIn, type RemoteClient } from "./client.ts";
import {
  fromLogprobLists,
  fromLogprobs,
  type LogprobLists,
  type RemoteCall,
  type RemoteDialect,
  type RemoteFacts,
  type RemoteListing,
  type WireLogprob,
} from "./dialect.ts";
import { type CallPiece, CallStream, textOnly } from "./events.ts";
import { type ServerProgram, toChat, toCompletion } from "./openai_request.ts";
import { readEvents } from "./stream.ts";

/** A model in GET /v1/models; vLLM and SGLang tell its window. */
interface Listed {
  id: string;
  created?: number;
  owned_by?: string;
  max_model_len?: number | null;
}

/** The facts that such a server does not tell. Requests are sent anyway, and it may refuse them. */
const CAPABILITIES = ["completion", "vision", "tools", "thinking"];

/** The API. */
export const openAi: RemoteDialect = { chat, generate, embed, render, describe, list };

async function* chat(call: RemoteCall, request: ChatRequest): AsyncGenerator<ChatEvent> {
  const body = toChat(call.model, request, await programOf(call, request));
  yield* answer(call, "/v1/chat/completions", body, notesOn(request));
}

async function* generate(
  call: RemoteCall,
  request: GenerateRequest,
): AsyncGenerator<GenerateEvent> {
  const body = toCompletion(call.model, request, await programOf(call, request));
  yield* textOnly(answer(call, "/v1/completions", body, notesOn(request)));
}

async function* answer(
  call: RemoteCall,
  path: string,
  body: unknown,
  notes: string[],
): AsyncGenerator<ChatEvent> {
  const { client, signal } = call;
  const result = new OpenAiAnswer(client, notes);
  const response = await client.ask(path, { body, signal });
  yield { type: "start", promptTokens: 0, cachedTokens: 0 };
  for await (const chunk of readEvents<OpenAiChunk>(call, response)) yield* result.add(chunk);
  yield* result.end();
}

function notesOn({ repeatLastN }: ChatRequest | GenerateRequest): string[] {
  return repeatLastN === undefined
    ? []
    : ["repeat_last_n: a server with OpenAI's API looks at the whole text"];
}

/** The program of the server; asked only if it makes a difference. */
async function programOf(
  call: RemoteCall,
  request: ChatRequest | GenerateRequest,
): Promise<ServerProgram> {
  const { format } = request;
  const isCommon = format === undefined || format === "json" || "schema" in format;
  if (isCommon && !("messages" in request && continuesFinalMessage(request))) return "other";
  const owners = (await modelsOf(call)).map(({ owned_by: owner }) => owner);
  return (["vllm", "sglang"] as const).find((program) => owners.includes(program)) ?? "other";
}

async function embed(
  { client, model, signal }: RemoteCall,
  { inputs, dimensions }: EmbedRequest,
): Promise<EmbedResult> {
  const body = { model, input: inputs, encoding_format: "float", ...given({ dimensions }) };
  const answer = await client.askJson<{
    data?: { index: number; embedding: number[] }[];
    usage?: { prompt_tokens?: number };
  }>("/v1/embeddings", { body, signal });
  const inOrder = (answer.data ?? []).toSorted((a, b) => a.index - b.index);
  return {
    embeddings: inOrder.map(({ embedding }) => Float32Array.from(embedding)),
    promptTokens: answer.usage?.prompt_tokens ?? 0,
  };
}

function render({ client }: RemoteCall): Promise<string> {
  return Promise.reject(new RequestError(`${client.host} does not show its prompts`));
}

async function describe(call: RemoteCall): Promise<RemoteFacts> {
  const listed = (await modelsOf(call)).find(({ id }) => id === call.model);
  return listed ? toFacts(listed) : { config: { capabilities: CAPABILITIES } };
}

async function list(call: Omit<RemoteCall, "model">): Promise<RemoteListing[]> {
  return (await modelsOf(call)).map((listed) => ({ model: listed.id, ...toFacts(listed) }));
}

async function modelsOf({ client, signal }: Omit<RemoteCall, "model">): Promise<Listed[]> {
  return (await client.askJson<{ data?: Listed[] }>("/v1/models", { signal })).data ?? [];
}

function toFacts({ created, max_model_len: window }: Listed): RemoteFacts {
  return {
    config: { capabilities: CAPABILITIES, ...(window && { context_length: window }) },
    ...(created && { modified: new Date(created * 1000) }),
  };
}

// The chunks of an answer of OpenAI's API -> our events. Times are taken here, as the API tells none.
// Thinking is `reasoning_content` (DeepSeek, SGLang, older vLLM) or `reasoning`.

/** A piece of a message; of a server that does not stream, the whole of it. */
interface Delta {
  content?: string | null;
  refusal?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: CallPiece[] | null;
}

interface Choice {
  index?: number;
  delta?: Delta;
  message?: Delta;
  /** Of /v1/completions. */
  text?: string;
  logprobs?: { content?: WireLogprob[] | null } & LogprobLists | null;
  finish_reason?: string | null;
  /** vLLM: the stop string that came. */
  stop_reason?: string | number | null;
}

interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
}

/** An event of a stream, or the whole of an answer. */
interface OpenAiChunk {
  object?: string;
  choices?: Choice[];
  usage?: Usage | null;
  error?: unknown;
}

/** Gathers one answer. */
class OpenAiAnswer {
  readonly #client: RemoteClient;
  readonly #notes: string[];
  readonly #calls = new CallStream();
  readonly #started = performance.now();
  #firstAt: number | undefined;
  #lastAt = this.#started;
  #usage: Usage = {};
  #last: Choice | undefined;

  /** @param notes what is done in another way than asked for, as sentences */
  constructor(client: RemoteClient, notes: string[]) {
    this.#client = client;
    this.#notes = notes;
  }

  /**
   * The events that a chunk brings.
   *
   * @throws {RemoteError} 502 if it tells of a failure
   */
  *add(chunk: OpenAiChunk): Generator<ChatEvent> {
    if (chunk.error !== undefined || chunk.object === "error") {
      throw this.#client.error(502, this.#client.inItsWords(errorIn(chunk), "it failed"));
    }
    if (chunk.usage) this.#usage = chunk.usage;
    const choice = chunk.choices?.find(({ index = 0 }) => index === 0);
    if (!choice) return;
    for (const event of this.#pieces(choice)) {
      this.#lastAt = performance.now();
      this.#firstAt ??= this.#lastAt;
      yield event;
    }
    if (choice.finish_reason) this.#last = choice;
  }

  /**
   * The events at the end of the stream.
   *
   * @throws {RemoteError} 502 if the answer is not whole
   */
  *end(): Generator<ChatEvent> {
    if (!this.#last) throw this.#client.error(502, "its answer ended before it was whole");
    yield* this.#calls.end({ isCut: this.#last.finish_reason === "length" });
    yield this.#done(this.#last);
  }

  *#pieces({ delta, message, text: plain, logprobs }: Choice): Generator<ChatEvent> {
    const piece = delta ?? message ?? {};
    const thinking = piece.reasoning_content ?? piece.reasoning;
    const text = piece.content ?? piece.refusal ?? plain;
    const told: TokenLogprob[] | undefined = logprobs
      ? fromLogprobs(logprobs.content) ?? fromLogprobLists(logprobs)
      : undefined;
    if (thinking) yield { type: "thinking", text: thinking };
    if (text) yield { type: "text", text, ...(told && { logprobs: told }) };
    for (const call of piece.tool_calls ?? []) yield* this.#calls.add(call);
  }

  #done({ finish_reason: reason, stop_reason: stop }: Choice): DoneEvent {
    const firstAt = this.#firstAt ?? performance.now();
    return {
      type: "done",
      reason: reason === "length" ? "length" : "stop",
      ...(typeof stop === "string" && { stopString: stop }),
      usage: {
        promptTokens: this.#usage.prompt_tokens ?? 0,
        cachedTokens: this.#usage.prompt_tokens_details?.cached_tokens ?? 0,
        completionTokens: this.#usage.completion_tokens ?? 0,
        promptMilliseconds: firstAt - this.#started,
        completionMilliseconds: Math.max(0, this.#lastAt - firstAt),
      },
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    };
  }
}
