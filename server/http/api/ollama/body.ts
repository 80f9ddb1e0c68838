// The native API's requests -> the engine's requests. Pure: no HTTP, no clock, no model.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import type { ChatMessage, ChatRequest, FormatOptions, ModelInfo } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import type { Task, Translation } from "../handler.ts";
import { imageReader, type ReadImage } from "../images.ts";
import type {
  OllamaChatRequest,
  OllamaGenerateRequest,
  OllamaMessage,
  OllamaRequest,
} from "./schema.ts";
import { type EngineOptions, readOptions } from "../options.ts";
import { toTool } from "../tools.ts";
import { refuseEmbeddingModel, refuseInChat, refuseInGenerate } from "./refusals.ts";

/**
 * Translates the body of POST /api/chat. Without messages it only loads, or with keepAlive 0 unloads.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateChat(body: OllamaChatRequest, info: ModelInfo): Translation {
  refuseInChat(body, info);
  const { loading, engine } = translateCommon(body);
  if (!body.messages?.length) return { ...loading, tasks: [] };
  refuseEmbeddingModel(body, info, "chat");
  const read = imageReader(body, info);
  const messages = body.messages.map((message, index) => toMessage(message, index, read));
  const task = chatTask(body, messages, engine);
  if (body.tools?.length) task.request.tools = body.tools.map((tool) => toTool(tool.function));
  return { ...loading, tasks: [task] };
}

/**
 * Translates the body of POST /api/generate. The prompt is a user's turn if the model has a chat
 * template; otherwise, or with `raw`, it is text to continue; with a suffix it is the text before a
 * gap. An empty prompt only loads or unloads the model, except with `raw`, where generation starts
 * from BOS.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateGenerate(body: OllamaGenerateRequest, info: ModelInfo): Translation {
  refuseInGenerate(body, info);
  const { loading, engine } = translateCommon(body);
  const { raw, suffix, system, template } = body;
  const prompt = body.prompt ?? "";
  const shown = readImages(body.images, "images", imageReader(body, info));
  if (!raw && !suffix && prompt === "" && !shown.images) return { ...loading, tasks: [] };
  refuseEmbeddingModel(body, info, "generate");
  if (!raw) engine.context = body.context ?? [];
  // A prompt with a suffix, or one for which there is neither a template nor a system prompt, is no
  // chat.
  if (raw || suffix || !(info.hasChatTemplate || system || template)) {
    if (suffix && system) loading.ignored.push("system");
    const request = { prompt, ...shown, ...(suffix && { suffix }), ...engine };
    return { ...loading, tasks: [{ kind: "generate", request }] };
  }
  const messages: ChatMessage[] = [{ role: "user", content: prompt, ...shown }];
  if (system) messages.unshift({ role: "system", content: system });
  const task = chatTask(body, messages, engine);
  if (template) task.request.template = template;
  return { ...loading, tasks: [task] };
}

/** The way in which an answer's form is given; the empty string and null are none. */
function readFormat(body: OllamaRequest): FormatOptions {
  const names = (["format", "pattern", "grammar"] as const)
    .filter((name) => body[name] !== undefined && body[name] !== null && body[name] !== "");
  if (names.length > 1) {
    throw new HttpError(400, `${names.join(" and ")} exclude each other: give one`, names[1]);
  }
  const { format, pattern, grammar } = body;
  if (names[0] === "pattern") return { format: { pattern: pattern! } };
  if (names[0] === "grammar") return { format: { grammar: grammar! } };
  return names[0] ? { format: format === "json" ? "json" : { schema: format } } : {};
}

function translateCommon(body: OllamaRequest) {
  const { engine: options, loading } = readOptions(body.options, body.keep_alive);
  const engine: EngineOptions = { ...options, ...readFormat(body) };
  if (typeof body.open_objects === "boolean") engine.openObjects = body.open_objects;
  if (body.mask_info) engine.masks = true;
  if (body.logprobs || body.mask_info) engine.logprobs = body.top_logprobs ?? 0;
  else if (body.top_logprobs) loading.ignored.push("top_logprobs");
  if (body.return_progress && (body.stream ?? true)) engine.progress = true;
  if (body.shift) loading.ignored.push("shift");
  return { loading, engine };
}

function chatTask(
  { truncate, think }: OllamaRequest,
  messages: ChatMessage[],
  engine: EngineOptions,
): Task & { kind: "chat" } {
  const request: ChatRequest = { messages, ...engine };
  if (typeof truncate === "boolean") request.truncate = truncate;
  if (think !== undefined && think !== null) {
    request.think = think as NonNullable<ChatRequest["think"]>;
  }
  return { kind: "chat", request };
}

function toMessage(message: OllamaMessage, index: number, read: ReadImage): ChatMessage {
  const turn: ChatMessage = {
    role: toRole(message.role, index),
    content: message.content ?? "",
    index,
    ...readImages(message.images, `messages[${index}].images`, read),
  };
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

function readImages(
  images: OllamaMessage["images"],
  place: string,
  read: ReadImage,
): Pick<ChatMessage, "images"> {
  if (!images?.length) return {};
  return { images: images.map((image, index) => read(image, `${place}[${index}]`)) };
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
