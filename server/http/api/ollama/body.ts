// The native API's requests -> the engine's requests. Pure: no HTTP, no clock, no model.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import type { ChatMessage, ChatRequest, ModelInfo } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import type { Task, Translation } from "../handler.ts";
import { type MediaReaders, mediaReaders } from "../media.ts";
import { isAlternatives, MOST_ALTERNATIVES } from "../logprobs.ts";
import { readTools, refuseOtherTools } from "../tool_choice.ts";
import { readWishes, refuseVariables, type Wishes } from "../wishes.ts";
import type {
  OllamaChatRequest,
  OllamaGenerateRequest,
  OllamaMessage,
  OllamaRequest,
} from "./schema.ts";

/**
 * Translates the body of POST /api/chat. Without messages it only loads, or with keepAlive 0 unloads.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateChat(body: OllamaChatRequest, info: ModelInfo): Translation {
  refuseInChat(body, info);
  const { engine, think, around } = translateCommon(body, info);
  if (!body.messages?.length) return { ...around, tasks: [] };
  refuseEmbeddingModel(body, info, "chat");
  const read = mediaReaders(body, info);
  const messages = body.messages.map((message, index) => toMessage(message, index, read));
  const task = chatTask(body, messages, { ...engine, ...think });
  for (const [index, { type }] of (body.tools ?? []).entries()) {
    refuseOtherTools(type, `tools[${index}]`);
  }
  const functions = (body.tools ?? []).map((tool) => tool.function);
  Object.assign(task.request, readTools(functions, body, info));
  return { ...around, tasks: [task] };
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
  const { engine, think, around } = translateCommon(body, info);
  const { raw, suffix, system, template } = body;
  const prompt = body.prompt ?? "";
  const shown = readMedia(body, "", mediaReaders(body, info));
  if (!raw && !suffix && prompt === "" && !shown.images && !shown.audio) {
    return { ...around, tasks: [] };
  }
  refuseEmbeddingModel(body, info, "generate");
  if (!raw) engine.context = body.context ?? [];
  // A prompt with a suffix, or one for which there is neither a template nor a system prompt, is no
  // chat.
  if (raw || suffix || !(info.hasChatTemplate || system || template)) {
    const request = { prompt, ...shown, ...(suffix && { suffix }), ...engine };
    refuseVariables(think);
    return { ...around, tasks: [{ kind: "generate", request }] };
  }
  const messages: ChatMessage[] = [{ role: "user", content: prompt, ...shown }];
  if (system) messages.unshift({ role: "system", content: system });
  const task = chatTask(body, messages, { ...engine, ...think });
  if (template) task.request.template = template;
  return { ...around, tasks: [task] };
}

/** The most that Ollama's clients know of a window that is full: that the oldest text leaves it. */
const SHIFT = "shift: the answer ends where the window is full";

function translateCommon(body: OllamaRequest, info: ModelInfo): Wishes {
  const { engine, think, around } = readWishes(body, info);
  if (body.mask_info) engine.masks = true;
  if (body.logprobs || body.mask_info) engine.logprobs = body.top_logprobs ?? 0;
  if (body.return_progress && (body.stream ?? true)) engine.progress = true;
  const warnings = [...around.warnings ?? [], ...(body.shift ? [SHIFT] : [])];
  return { engine, think, around: { ...around, warnings } };
}

function chatTask(
  { truncate }: OllamaRequest,
  messages: ChatMessage[],
  options: Omit<ChatRequest, "messages">,
): Task & { kind: "chat" } {
  const request: ChatRequest = { messages, ...options };
  if (typeof truncate === "boolean") request.truncate = truncate;
  return { kind: "chat", request };
}

function toMessage(message: OllamaMessage, index: number, read: MediaReaders): ChatMessage {
  const turn: ChatMessage = {
    role: toRole(message.role, index),
    content: message.content ?? "",
    index,
    ...readMedia(message, `messages[${index}].`, read),
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

/** The images and sounds of a message or a prompt. @param path what comes before the members' names */
function readMedia(
  { images, audio }: Pick<OllamaMessage, "images" | "audio">,
  path: string,
  read: MediaReaders,
): Pick<ChatMessage, "images" | "audio"> {
  return {
    ...(images?.length && {
      images: images.map((image, index) => read.image(image, `${path}images[${index}]`)),
    }),
    ...(audio?.length && {
      audio: audio.map((sound, index) => read.audio(sound, `${path}audio[${index}]`)),
    }),
  };
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

// What a native request may ask for and this version does not do. Each is refused with a message of its
// own, so that no client believes that something was done that was ignored.

/** @throws {HttpError} 400 for what is wrong or not to be had in a chat */
function refuseInChat(body: OllamaChatRequest, info: ModelInfo): void {
  refuseInBoth(body);
  if (body.tools?.length && !info.callsTools) {
    throw refusal(`"${body.model}" does not support tools`);
  }
}

/** @throws {HttpError} 400 for what is wrong or not to be had in a generation */
function refuseInGenerate(body: OllamaGenerateRequest, info: ModelInfo): void {
  refuseInBoth(body);
  if (body.raw && (body.template || body.system || body.context?.length)) {
    throw refusal("raw mode does not support template, system, or context");
  }
  if (!body.suffix) return;
  if (!info.fillsInMiddle) throw refusal(`"${body.model}" does not support insert`);
  if (body.template) throw refusal("template: a prompt with a suffix has no other template");
  if (body.system) throw refusal("system: a prompt with a suffix has no system prompt");
  if (body.images?.length) throw refusal("images: a prompt with a suffix takes none");
  if (body.audio?.length) throw refusal("audio: a prompt with a suffix takes none");
}

/** @throws {HttpError} 400 if the model gives vectors and no text */
function refuseEmbeddingModel(
  { model }: OllamaRequest,
  { isEmbeddingModel }: ModelInfo,
  task: "chat" | "generate",
): void {
  if (isEmbeddingModel) throw refusal(`"${model}" does not support ${task}`);
}

function refuseInBoth({ logprobs, mask_info, top_logprobs }: OllamaRequest): void {
  if (!isAlternatives(top_logprobs ?? 0)) {
    throw refusal(`top_logprobs must be between 0 and ${MOST_ALTERNATIVES}`);
  }
  if (top_logprobs && !logprobs && !mask_info) {
    throw refusal("top_logprobs needs logprobs to be true");
  }
}

function refusal(message: string): HttpError {
  return new HttpError(400, message);
}
