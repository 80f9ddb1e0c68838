// Servers with Ollama's API: records of a line each -> our events.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import {
  type ChatEvent,
  type ChatMessage,
  type ChatRequest,
  type DoneEvent,
  type EmbedRequest,
  type EmbedResult,
  type GenerateEvent,
  type GenerateRequest,
  type ModelConfig,
  OPTIONS,
  type OutputFormat,
  parseExactJson,
  RequestError,
  withDoubles,
} from "../../engine/mod.ts";
import { given } from "../given.ts";
import { type ComposedContent, withMark } from "../text/image_mark.ts";
import { errorIn } from "./client.ts";
import {
  base64Of,
  fromLogprobs,
  type RemoteCall,
  type RemoteDialect,
  type RemoteFacts,
  type RemoteListing,
  schemaOf,
  type WireLogprob,
} from "./dialect.ts";
import { newCallId, textOnly } from "./events.ts";
import { readJsonLines } from "./stream.ts";

const NANOSECONDS = 1e6;

/** A piece of an answer: the text of a chat or, in the record itself, of a generation. */
interface AnswerText {
  content?: string;
  response?: string;
  thinking?: string;
  tool_calls?: {
    id?: string;
    function: { name: string; arguments?: Record<string, unknown> | null };
  }[];
}

interface AnswerRecord extends AnswerText {
  message?: AnswerText;
  logprobs?: WireLogprob[];
  /** Requests that come first, where this one waits: a server of this project says so. */
  queued_ahead?: unknown;
  done?: boolean;
  done_reason?: string;
  prompt_eval_count?: number;
  prompt_cached_count?: number;
  prompt_eval_duration?: number;
  eval_count?: number;
  eval_duration?: number;
  context?: number[];
  error?: unknown;
}

interface Details {
  family?: string;
  parameter_size?: string;
  quantization_level?: string;
}

/** A model, as /api/show and /api/tags tell of it. */
interface Shown {
  details?: Details;
  capabilities?: string[];
  modified_at?: string;
  model_info?: Record<string, unknown>;
}

/** The API. */
export const ollama: RemoteDialect = { chat, generate, embed, render, describe, list };

async function* chat(call: RemoteCall, request: ChatRequest): AsyncGenerator<ChatEvent> {
  const notes = request.parallelToolCalls === false
    ? ["parallel_tool_calls: a server with Ollama's API has no such limit"]
    : undefined;
  yield* answer(call, toChat(call.model, request), notes);
}

async function* generate(
  call: RemoteCall,
  request: GenerateRequest,
): AsyncGenerator<GenerateEvent> {
  yield* textOnly(answer(call, toGenerate(call.model, request)));
}

async function* answer(
  call: RemoteCall,
  { path, body }: OllamaPost,
  notes?: string[],
): AsyncGenerator<ChatEvent> {
  const { client, signal } = call;
  const response = await client.ask(path, { body, signal });
  let begun = false;
  for await (const record of readJsonLines(call, response, readRecord)) {
    if (record.error !== undefined) {
      throw client.error(502, client.inItsWords(errorIn(record), "it failed"));
    }
    const { queued_ahead: ahead } = record;
    if (!begun && isCount(ahead)) {
      yield { type: "queued", ahead };
      continue;
    }
    if (!begun) yield { type: "start", promptTokens: 0, cachedTokens: 0 };
    begun = true;
    yield* pieces(record);
    if (record.done) return yield { ...toDone(record), ...(notes && { notes }) };
  }
  throw client.error(502, "its answer ended before it was whole");
}

/** A record, in which the arguments of calls have their numbers as they were written. */
function readRecord(line: string): AnswerRecord {
  const record: AnswerRecord = JSON.parse(line);
  if (!record.message?.tool_calls) return record;
  return { ...record, message: (parseExactJson(line) as AnswerRecord).message! };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

function* pieces({ message, logprobs, ...record }: AnswerRecord): Generator<ChatEvent> {
  const { thinking, content, response, tool_calls: calls = [] } = message ?? record;
  const text = content ?? response;
  const told = fromLogprobs(logprobs);
  if (thinking) yield { type: "thinking", text: thinking };
  if (text) yield { type: "text", text, ...(told && { logprobs: told }) };
  for (const { id = newCallId(), function: { name, arguments: values } } of calls) {
    yield { type: "callStart", id, name };
    yield { type: "callArguments", id, json: JSON.stringify(values ?? {}) };
    yield { type: "callEnd", id, name, arguments: withDoubles(values ?? {}) };
  }
}

function toDone(record: AnswerRecord): DoneEvent {
  return {
    type: "done",
    reason: record.done_reason === "length" ? "length" : "stop",
    usage: {
      promptTokens: record.prompt_eval_count ?? 0,
      cachedTokens: record.prompt_cached_count ?? 0,
      completionTokens: record.eval_count ?? 0,
      promptMilliseconds: (record.prompt_eval_duration ?? 0) / NANOSECONDS,
      completionMilliseconds: (record.eval_duration ?? 0) / NANOSECONDS,
    },
    ...(record.context && { context: record.context }),
  };
}

async function embed(
  { client, model, signal }: RemoteCall,
  { inputs, truncate, dimensions, contextLength, gpuLayers, prefillChunk }: EmbedRequest,
): Promise<EmbedResult> {
  if (inputs.some((input) => typeof input !== "string")) {
    throw new RequestError("A server with Ollama's API takes inputs as text, not as tokens");
  }
  const options = given({
    num_ctx: contextLength,
    num_gpu: gpuLayers,
    num_batch: prefillChunk,
  });
  const body = {
    model,
    input: inputs,
    ...given({ truncate, dimensions }),
    ...(Object.keys(options).length > 0 && { options }),
  };
  const answer = await client.askJson<{ embeddings?: number[][]; prompt_eval_count?: number }>(
    "/api/embed",
    { body, signal },
  );
  return {
    embeddings: (answer.embeddings ?? []).map((vector) => Float32Array.from(vector)),
    promptTokens: answer.prompt_eval_count ?? 0,
  };
}

async function render({ client, model, signal }: RemoteCall, request: ChatRequest) {
  const { path, body } = toChat(model, request);
  const answer = await client.askJson<{ _debug_info?: { rendered_template?: string } }>(path, {
    body: { ...body, stream: false, _debug_render_only: true },
    signal,
  });
  const prompt = answer._debug_info?.rendered_template;
  if (prompt === undefined) throw new RequestError(`${client.host} does not show its prompts`);
  return prompt;
}

async function describe({ client, model, signal }: RemoteCall): Promise<RemoteFacts> {
  return toFacts(await client.askJson<Shown>("/api/show", { body: { model }, signal }));
}

async function list({ client, signal }: Omit<RemoteCall, "model">): Promise<RemoteListing[]> {
  const { models } = await client.askJson<{ models?: (Shown & { name: string })[] }>("/api/tags", {
    signal,
  });
  return (models ?? []).map((shown) => ({
    model: shown.name.replace(/:latest$/, ""),
    ...toFacts(shown),
  }));
}

function toFacts(shown: Shown): RemoteFacts {
  const { details = {}, capabilities, modified_at: modified, model_info: info = {} } = shown;
  const count = (suffix: string) => {
    const value = Object.entries(info).find(([key]) => key.endsWith(suffix))?.[1];
    return typeof value === "number" ? value : undefined;
  };
  const config: Partial<ModelConfig> = given({
    model_family: details.family,
    model_type: details.parameter_size,
    file_type: details.quantization_level,
    capabilities,
    context_length: count(".context_length"),
    embedding_length: count(".embedding_length"),
  });
  const date = new Date(modified ?? NaN);
  return { config, ...(!Number.isNaN(date.getTime()) && { modified: date }) };
}

// The engine's requests -> bodies of Ollama's API. Pure.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

/** A path and what is posted there. */
interface OllamaPost {
  path: "/api/chat" | "/api/generate";
  body: Record<string, unknown>;
}

/**
 * The request for a conversation. With `context` or a template it becomes a prompt for /api/generate.
 *
 * @throws {RequestError} for what the API has no way to say
 */
function toChat(model: string, request: ChatRequest): OllamaPost {
  const { messages, toolChoice = "auto", template, context, think, truncate } = request;
  if (toolChoice !== "auto" && toolChoice !== "none") {
    throw new RequestError("tool_choice: a server with Ollama's API cannot be made to call a tool");
  }
  const shared = { ...common(model, request), ...given({ think, truncate, template, context }) };
  const tools = toolChoice === "none" ? [] : request.tools ?? [];
  const prompt = tools.length === 0 ? promptOf(messages) : undefined;
  if (context && prompt) return { path: "/api/generate", body: { ...shared, ...prompt } };
  if (template !== undefined || context?.length) {
    throw new RequestError(
      "Cannot forward a template or a context with a conversation: ask without it",
    );
  }
  const body: Record<string, unknown> = { ...shared, messages: messages.map(toMessage) };
  delete body.context;
  if (tools.length > 0) body.tools = tools;
  return { path: "/api/chat", body };
}

/**
 * The request for a raw prompt, or for the text between a prompt and a suffix.
 *
 * @throws {RequestError} for what the API has no way to say
 */
function toGenerate(model: string, request: GenerateRequest): OllamaPost {
  const { prompt, suffix, context, images } = request;
  if (typeof prompt !== "string" || context?.length) {
    throw new RequestError("A server with Ollama's API takes prompts as text, not as tokens");
  }
  const layout = suffix === undefined ? { raw: true } : { suffix };
  const { content, ...shown } = shownIn({ content: prompt, ...(images && { images }) });
  const body = { ...common(model, request), prompt: content, ...shown, ...layout };
  return { path: "/api/generate", body };
}

type Options = typeof OPTIONS;

function common(model: string, request: ChatRequest | GenerateRequest): Record<string, unknown> {
  if ((request as ChatRequest).templateVariables) {
    throw new RequestError("A server with Ollama's API takes no variables of templates");
  }
  const { logprobs, format, logitBias, stopTokens, allowedTokens } = request;
  if (logitBias?.length || stopTokens?.length || allowedTokens?.length) {
    throw new RequestError("A server with Ollama's API takes no biases and ids of tokens");
  }
  const options = given(Object.fromEntries(
    Object.entries(OPTIONS).map(([name, option]) => [option.name, request[name as keyof Options]]),
  ));
  return {
    model,
    stream: true,
    ...(Object.keys(options).length > 0 && { options }),
    ...(format !== undefined && { format: toFormat(format) }),
    ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs }),
  };
}

function toFormat(format: OutputFormat): unknown {
  if (format === "json") return "json";
  if ("schema" in format) return schemaOf(format);
  throw new RequestError(
    "A server with Ollama's API takes no grammars and patterns: use a JSON Schema",
  );
}

/** A conversation of one question, as a prompt. */
function promptOf(messages: ChatMessage[]): Record<string, unknown> | undefined {
  const [first, second] = messages;
  const ask = (question: ChatMessage) => {
    const { content: prompt, ...images } = shownIn(question);
    return { prompt, ...images };
  };
  if (messages.length === 1 && first!.role === "user") return ask(first!);
  const hasSystem = messages.length === 2 && first!.role === "system" && second!.role === "user";
  return hasSystem ? { ...ask(second!), system: first!.content } : undefined;
}

/** The text with Ollama's marks for images, and these. */
function shownIn(shown: ComposedContent): { content: string; images?: string[] } {
  const content = withMark(shown, "[img]");
  return { content, ...(shown.images?.length && { images: shown.images.map(base64Of) }) };
}

function toMessage(message: ChatMessage, index: number, all: ChatMessage[]): unknown {
  const { role, thinking, toolCalls, toolCallId } = message;
  const toolName = message.toolName ?? nameOfCall(all.slice(0, index), toolCallId);
  return {
    role,
    ...shownIn(message),
    ...given({ thinking, tool_calls: toolCalls, tool_name: toolName, tool_call_id: toolCallId }),
  };
}

/** The name of the tool that was called under an id, which Ollama's templates need for results. */
function nameOfCall(earlier: ChatMessage[], id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  const calls = earlier.flatMap(({ toolCalls = [] }) => toolCalls);
  return calls.findLast((call) => call.id === id)?.function.name;
}
