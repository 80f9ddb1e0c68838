// Servers with OpenAI's API, such as vLLM, SGLang, Ray Serve and llm-d: chunks of server-sent events ->
// our events. Format: https://platform.openai.com/docs/api-reference/chat-streaming

import {
  type ChatEvent,
  type ChatRequest,
  continuesFinalMessage,
  type EmbedRequest,
  type EmbedResult,
  type GenerateEvent,
  type GenerateRequest,
  RequestError,
} from "../../engine/mod.ts";
import type { RemoteCall, RemoteDialect, RemoteFacts, RemoteListing } from "./dialect.ts";
import { given } from "../given.ts";
import { OpenAiAnswer, type OpenAiChunk } from "./openai_answer.ts";
import { type ServerProgram, toChat, toCompletion } from "./openai_request.ts";
import { readEvents } from "./stream.ts";
import { textOnly } from "./events.ts";

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
