// POST /v1/chat/completions: the body -> the engine's request. Pure.
// Format: https://platform.openai.com/docs/api-reference/chat/create

import {
  type ChatMessage,
  type ChatRequest,
  type ModelInfo,
  type ToolCall,
  ValueBudget,
} from "../../../../../engine/mod.ts";
import { mediaReaders } from "../../media.ts";
import { readArguments, readContent } from "../content.ts";
import { refusal } from "../errors.ts";
import { readAlternatives, readAnswers, readCommon } from "../translation.ts";
import type { Translation } from "../../handler.ts";
import type { ChatBody, WireMessage } from "../schema.ts";
import { readTools, refuseOtherTools } from "../../tool_choice.ts";

/** The engine's role of each role on the wire; "function" is the forerunner of "tool". */
const ROLES: Record<string, ChatMessage["role"]> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

/**
 * Translates the body.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateChat(body: ChatBody, info: ModelInfo): Translation {
  refuse(body, info);
  const { engine, think, around } = readCommon(body, info);
  const functions = (body.tools ?? []).map((tool) => tool.function!);
  const request = {
    messages: readMessages(body, info),
    ...engine,
    ...think,
    ...readTools(functions, body, info),
    ...readAlternatives(body.logprobs ?? false, body.top_logprobs, "top_logprobs"),
    ...readContinuation(body),
    truncate: body.truncate ?? false,
    ...(body.return_progress && body.stream && { progress: true }),
  };
  return { ...around, ...readAnswers(body.n, [{ kind: "chat", request }]) };
}

function refuse(body: ChatBody, { isEmbeddingModel }: ModelInfo): void {
  if (!body.messages?.length) throw refusal("[] is too short - 'messages'", "messages");
  if (isEmbeddingModel) throw refusal(`"${body.model}" does not support chat`, "model");
  if (body.functions?.length) throw refusal("functions: use tools instead", "functions");
  for (const [index, { type, function: tool }] of (body.tools ?? []).entries()) {
    refuseOtherTools(type, `tools[${index}]`);
    if (!tool) throw refusal(`tools[${index}] lacks "function"`, "tools");
  }
  for (const name of ["audio", "web_search_options"] as const) {
    if (body[name] != null) throw refusal(`${name} is not supported`, name);
  }
}

/** Whether the last message is continued, in the words of vLLM's two members. */
function readContinuation(
  { messages, continue_final_message: continues, add_generation_prompt: opens }: ChatBody,
): Pick<ChatRequest, "continueFinalMessage"> {
  if (continues && opens) {
    const reason = "add_generation_prompt and continue_final_message exclude each other: give one";
    throw refusal(reason, "add_generation_prompt");
  }
  const isAnswer = messages!.at(-1)!.role.toLowerCase() === "assistant";
  if (opens === false && !(continues ?? isAnswer)) {
    const reason =
      "add_generation_prompt: false needs a message to continue (continue_final_message)";
    throw refusal(reason, "add_generation_prompt");
  }
  const wanted = continues ?? (opens == null ? undefined : !opens);
  return wanted === undefined ? {} : { continueFinalMessage: wanted };
}

function readMessages(body: ChatBody, info: ModelInfo): ChatMessage[] {
  const read = mediaReaders(body, info);
  const names = new Map<string, string>();
  const budget = new ValueBudget();
  return body.messages!.map((message, index) => {
    const path = `messages[${index}]`;
    const turn: ChatMessage = {
      role: readRole(message, path),
      index,
      ...readContent(message.content ?? message.refusal, `${path}.content`, read),
    };
    const thinking = message.reasoning ?? message.reasoning_content;
    if (thinking) turn.thinking = thinking;
    const calls = readCalls(message, path, budget);
    if (calls.length > 0) turn.toolCalls = calls;
    for (const { id, function: { name } } of calls) if (id) names.set(id, name);
    if (turn.role === "tool") {
      // Templates want the tool's name, clients give its call's id.
      const { tool_call_id: id } = message;
      const name = message.name ?? names.get(id ?? "");
      if (id) turn.toolCallId = id;
      if (name) turn.toolName = name;
    }
    return turn;
  });
}

function readRole({ role }: WireMessage, path: string): ChatMessage["role"] {
  const lower = role.toLowerCase();
  if (Object.hasOwn(ROLES, lower)) return ROLES[lower]!;
  const known = Object.keys(ROLES).join(", ");
  throw refusal(`${path}.role must be one of ${known}`, `${path}.role`);
}

function readCalls(
  { tool_calls: calls }: WireMessage,
  path: string,
  budget: ValueBudget,
): ToolCall[] {
  return (calls ?? []).map(({ id, function: { name, arguments: text } }, index) => ({
    ...(id && { id }),
    function: {
      name,
      arguments: readArguments(text, `${path}.tool_calls[${index}].function.arguments`, budget),
    },
  }));
}
