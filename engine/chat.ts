// From a conversation to a prompt: the model's own Jinja template (without one, the texts as they
// are, as Ollama has it), and the oldest turns dropped where the window is too small. What comes
// back is the generation's stream.

import type { ChatTemplate } from "../tokenizer/mod.ts";
import { ContextLengthError } from "./errors.ts";
import { encodePrompt, generate, type GenerateContext } from "./generate.ts";
import type { ChatEvent, ChatMessage, ChatRequest, ToolCall } from "./types.ts";

/** A model that can chat. */
export interface ChatContext extends GenerateContext {
  /** Undefined where the file has none: then the messages' texts are the prompt. */
  readonly template: ChatTemplate | undefined;
}

/** The prompt text of a conversation. Errors: RequestError, ChatTemplateError. */
export function renderChat(context: ChatContext, request: ChatRequest): string {
  return render(context, request, request.messages);
}

/** Answers a conversation. Errors as of generate(), and of renderChat(). */
export function chat(context: ChatContext, request: ChatRequest): AsyncIterableIterator<ChatEvent> {
  const { messages: _, tools: __, think: ___, truncate = true, ...rest } = request;
  let messages = request.messages;
  for (;;) {
    const prompt = render(context, request, messages);
    // The template writes BOS where the model wants it; encoding adds none twice.
    try {
      return generate(context, { ...rest, prompt: encodePrompt(context, prompt) });
    } catch (error) {
      const shorter = truncate && error instanceof ContextLengthError && withoutOldest(messages);
      if (!shorter) throw error;
      messages = shorter;
    }
  }
}

function render(
  context: ChatContext,
  request: ChatRequest,
  messages: readonly ChatMessage[],
): string {
  if (!context.template) return plainPrompt(messages);
  const { think, tools } = request;
  const variables = think === undefined
    ? {}
    : { enable_thinking: think !== false, thinking: think !== false, ...effort(think) };
  return context.template.render({
    messages: messages.map(templateMessage),
    ...(tools ? { tools } : {}),
    addGenerationPrompt: true,
    variables,
  });
}

/** What a model without a template continues: the texts alone, since it knows no roles. */
function plainPrompt(messages: readonly ChatMessage[]): string {
  return messages.map(({ content }) => content).filter((text) => text !== "").join("\n");
}

function effort(think: ChatRequest["think"]): Record<string, string> {
  return typeof think === "string" ? { reasoning_effort: think } : {};
}

/** A message under the names that templates use. */
function templateMessage(message: ChatMessage): Record<string, unknown> {
  const { role, content, thinking, toolCalls, toolName, toolCallId } = message;
  return {
    role,
    content,
    ...(thinking !== undefined ? { reasoning_content: thinking, thinking } : {}),
    ...(toolCalls ? { tool_calls: toolCalls.map(templateCall) } : {}),
    ...(toolName !== undefined ? { name: toolName } : {}),
    ...(toolCallId !== undefined ? { tool_call_id: toolCallId } : {}),
  };
}

function templateCall(call: ToolCall): Record<string, unknown> {
  return { type: "function", ...call };
}

/** The messages without the oldest turn, system messages and the last one kept; or undefined. */
function withoutOldest(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const oldest = messages.findIndex(({ role }) => role !== "system");
  if (oldest < 0 || oldest >= messages.length - 1) return undefined;
  return messages.filter((_, i) => i !== oldest);
}
