// The native API's requests -> the engine's requests, and the engine's events -> wire records.
// Pure: no HTTP, no clock, no model. Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import type {
  ChatEvent,
  ChatMessage,
  ChatRequest,
  DoneReason,
  FormatOptions,
  GenerateRequest,
  ModelInfo,
  Tool,
  Usage,
} from "../../engine/mod.ts";
import { HttpError } from "../errors.ts";
import type {
  OllamaChatRequest,
  OllamaExtras,
  OllamaGenerateRequest,
  OllamaMessage,
  OllamaMetrics,
  OllamaRecord,
  OllamaRequest,
  OllamaText,
  OllamaTool,
  OllamaToolCall,
} from "./ollama_types.ts";
import { type EngineOptions, nanoseconds, readKeepAlive, readOptions } from "./options.ts";
import { refuseEmbeddingModel, refuseInChat, refuseInGenerate } from "./refusals.ts";

/** What a request comes to for the engine. `load` only loads (or, with keepAlive 0, unloads). */
export type Task =
  | { kind: "load" }
  | { kind: "chat"; request: ChatRequest }
  | { kind: "generate"; request: GenerateRequest & { prompt: string } };

/** A request, translated. */
export interface Plan {
  task: Task;
  /** Window in tokens that it needs. */
  contextLength?: number;
  /** In milliseconds; Infinity is for ever. */
  keepAlive?: number;
  /** Names of given members without effect, for the log. */
  ignored: string[];
}

/** How an answer stands in a record: the difference between those of chat and generate. */
export type TextForm = (text: string, extras?: OllamaExtras) => OllamaText;

export const chatText: TextForm = (content, extras) => ({
  message: { role: "assistant", content, ...extras },
});
export const generateText: TextForm = (response, extras) => ({ response, ...extras });

/** An answer, or a part of one, as it is gathered. */
export class AnswerParts {
  #text = "";
  #thinking = "";
  #calls: OllamaToolCall[] = [];
  #index = 0;

  /** Takes an event. Calls are told whole, at their end. */
  add(event: ChatEvent): void {
    if (event.type === "text") this.#text += event.text;
    if (event.type === "thinking") this.#thinking += event.text;
    if (event.type === "callEnd") {
      const { id, name, arguments: values } = event;
      this.#calls.push({ id, function: { index: this.#index++, name, arguments: values } });
    }
  }

  /** What was gathered since the last time; undefined if that is nothing. */
  take(form: TextForm): OllamaText | undefined {
    const [text, thinking, calls] = [this.#text, this.#thinking, this.#calls];
    [this.#text, this.#thinking, this.#calls] = ["", "", []];
    if (text === "" && thinking === "" && calls.length === 0) return undefined;
    return form(text, {
      ...(thinking && { thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    });
  }
}

/**
 * Translates the body of POST /api/chat.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function planChat(body: OllamaChatRequest, info: ModelInfo): Plan {
  refuseInChat(body, info);
  const { plan, engine } = planCommon(body);
  if (!body.messages?.length) return { ...plan, task: { kind: "load" } };
  refuseEmbeddingModel(body, info, "chat");
  const task = chatTask(body, body.messages.map(toMessage), engine);
  if (body.tools?.length) task.request.tools = body.tools.map(toTool);
  return { ...plan, task };
}

/**
 * Translates the body of POST /api/generate. The prompt is a user's turn if the model has a chat
 * template, else (or with `raw`) text to continue. A raw empty prompt is one: it starts from BOS.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function planGenerate(body: OllamaGenerateRequest, info: ModelInfo): Plan {
  refuseInGenerate(body, info);
  const { plan, engine } = planCommon(body);
  const prompt = body.prompt ?? "";
  if (!body.raw && prompt === "") return { ...plan, task: { kind: "load" } };
  refuseEmbeddingModel(body, info, "generate");
  // Without a template and a system prompt there is nothing to lay out.
  if (body.raw || !(info.hasChatTemplate || body.system)) {
    return { ...plan, task: { kind: "generate", request: { prompt, ...engine } } };
  }
  const messages: ChatMessage[] = [{ role: "user", content: prompt }];
  if (body.system) messages.unshift({ role: "system", content: body.system });
  return { ...plan, task: chatTask(body, messages, engine) };
}

/** `format`: "json" or a JSON Schema; the empty string and null are none. */
function readFormat(format: unknown): FormatOptions {
  if (format === undefined || format === null || format === "") return {};
  return { format: format === "json" ? "json" : { schema: format } };
}

/** A record that carries text and is not the last. */
export function partRecord(model: string, at: Date, text: OllamaText): OllamaRecord {
  return { model, created_at: at.toISOString(), ...text, done: false };
}

/** The last record, or the only one. */
export function finalRecord(
  model: string,
  at: Date,
  text: OllamaText,
  reason: DoneReason | "load" | "unload",
  metrics: OllamaMetrics & Pick<OllamaRecord, "dropped_messages"> = {},
): OllamaRecord {
  return {
    model,
    created_at: at.toISOString(),
    ...text,
    done: true,
    done_reason: reason,
    ...metrics,
  };
}

/** The answer to `_debug_render_only`: the prompt text, and nothing has run. */
export function renderedRecord(
  model: string,
  at: Date,
  text: OllamaText,
  rendered: string,
): OllamaRecord {
  return { ...partRecord(model, at, text), _debug_info: { rendered_template: rendered } };
}

/** Counts and times for the final record. Arguments in milliseconds. */
export function toMetrics(usage: Usage, total: number, load: number): OllamaMetrics {
  const metrics = {
    total_duration: nanoseconds(total),
    load_duration: nanoseconds(load),
    prompt_eval_count: usage.promptTokens,
    prompt_eval_duration: nanoseconds(usage.promptMilliseconds),
    eval_count: usage.completionTokens,
    eval_duration: nanoseconds(usage.completionMilliseconds),
  };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== 0));
}

function planCommon(body: OllamaRequest) {
  const { engine: options, contextLength, ignored } = readOptions(body.options);
  const engine = { ...options, ...readFormat(body.format) };
  const keepAlive = readKeepAlive(body.keep_alive);
  if (body.shift) ignored.push("shift");
  const plan = {
    ignored,
    ...(contextLength !== undefined && { contextLength }),
    ...(keepAlive !== undefined && { keepAlive }),
  };
  return { plan, engine };
}

function chatTask(
  { truncate, think }: OllamaRequest,
  messages: ChatMessage[],
  engine: EngineOptions,
): Task & { kind: "chat" } {
  const request: ChatRequest = { messages, ...engine };
  if (typeof truncate === "boolean") request.truncate = truncate;
  if (think !== undefined && think !== null) request.think = think as NonNullable<ChatRequest["think"]>;
  return { kind: "chat", request };
}

function toTool({ function: { name, description, parameters, strict } }: OllamaTool): Tool {
  return {
    type: "function",
    function: {
      name,
      ...(description && { description }),
      ...(parameters && { parameters }),
      ...(strict && { strict }),
    },
  };
}

function toMessage(message: OllamaMessage, index: number): ChatMessage {
  const turn: ChatMessage = { role: toRole(message.role, index), content: message.content ?? "" };
  if (message.thinking) turn.thinking = message.thinking;
  if (message.tool_name) turn.toolName = message.tool_name;
  if (message.tool_call_id) turn.toolCallId = message.tool_call_id;
  if (message.tool_calls?.length) {
    turn.toolCalls = message.tool_calls.map(({ id, function: { name, arguments: values } }) => ({
      ...(id && { id }),
      function: { name, arguments: values ?? {} },
    }));
  }
  return turn;
}

function toRole(role: string, index: number): ChatMessage["role"] {
  const lower = role.toLowerCase();
  if (lower === "system" || lower === "user" || lower === "assistant" || lower === "tool") {
    return lower;
  }
  throw new HttpError(
    400,
    `messages[${index}].role must be one of system, user, assistant, tool`,
  );
}
