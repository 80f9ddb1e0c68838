// The engine's requests -> bodies of Ollama's API. Pure.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import {
  type ChatMessage,
  type ChatRequest,
  type GenerateRequest,
  OPTIONS,
  type OutputFormat,
  RequestError,
} from "../../engine/mod.ts";
import { type ComposedContent, withMark } from "../text/image_mark.ts";
import { given } from "../given.ts";
import { base64Of, schemaOf } from "./members.ts";

/** A path and what is posted there. */
export interface OllamaPost {
  path: "/api/chat" | "/api/generate";
  body: Record<string, unknown>;
}

/**
 * The request for a conversation. With `context` or a template it becomes a prompt for /api/generate.
 *
 * @throws {RequestError} for what the API has no way to say
 */
export function toChat(model: string, request: ChatRequest): OllamaPost {
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
export function toGenerate(model: string, request: GenerateRequest): OllamaPost {
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
  const { logprobs, format } = request;
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
