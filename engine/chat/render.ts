// The text of a prompt: the model's own Jinja template, or a Go template of the request; without
// either, the texts of the messages as they are, as in Ollama.

import { type ChatTemplate, RenderBudget, taint, type Text } from "../../tokenizer/mod.ts";
import { pollCancellation } from "../cancellation.ts";
import { RequestError } from "../errors.ts";
import { createGoTemplate, GoTemplateError, renderGoChatText } from "../go_template/mod.ts";
import type { ChatMessage, ChatRequest, ToolCall } from "../types/mod.ts";
import { unitsOf } from "./fit.ts";

/** The options of a rendering. */
export interface RenderOptions {
  /**
   * Whether the prompt ends with the header of an answer, where that is not up to the template
   * alone. Default true.
   */
  readonly opens?: boolean;
}

/** Renders messages. */
export type Render = (messages: readonly ChatMessage[], options?: RenderOptions) => Text;

/**
 * The function that renders messages. All that messages and tools contain is data. A template of
 * the request is parsed once for all attempts, which share a budget. Errors: RequestError; those of
 * the function: RequestError, ChatTemplateError.
 *
 * @param own the model's template
 */
export function createRenderer(
  own: ChatTemplate | undefined,
  { messages: all, think, tools, template, templateVariables: data }: ChatRequest,
): Render {
  const budget = new RenderBudget(unitsOf(all), pollCancellation);
  if (template !== undefined) {
    if (data) {
      throw new RequestError(
        "Cannot lay the conversation out: a template in Go's language has no further variables",
      );
    }
    return refusingFaults(() => {
      const parsed = createGoTemplate(template);
      return (messages) =>
        refusingFaults(() => renderGoChatText(parsed, { messages, tools, think }, budget));
    });
  }
  if (!own) return plainPrompt;
  const variables = think === undefined
    ? {}
    : { enable_thinking: think !== false, thinking: think !== false, ...effort(think) };
  return (messages, { opens = true } = {}) =>
    own.renderText({
      messages: messages.map(templateMessage),
      ...(tools ? { tools } : {}),
      addGenerationPrompt: opens,
      data,
      variables,
    }, budget);
}

/** Faults of a request's template are errors of the request. */
function refusingFaults<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof GoTemplateError)) throw error;
    throw new RequestError(error.message, { cause: error });
  }
}

/** The prompt of a model without a template: only the texts, since it has no marks for roles. */
function plainPrompt(messages: readonly ChatMessage[]): Text {
  return taint(messages.map(({ content }) => content).filter((text) => text !== "").join("\n"));
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
