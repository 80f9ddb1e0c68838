// From a conversation to a prompt: the model's own Jinja template (without one, the texts as they
// are, as Ollama has it) or a Go template of the request, and the oldest turns dropped where the
// window is too small. What comes back is the generation's stream, taken apart into text, thinking
// and tool calls.

import type { ChatTemplate } from "../tokenizer/mod.ts";
import { AnswerStream } from "./answer_stream.ts";
import type { AnswerFormat, CallableTool } from "./answers/mod.ts";
import { ChatTools } from "./chat_tools.ts";
import { ContextLengthError, RequestError } from "./errors.ts";
import { generate, type GenerateContext } from "./generate.ts";
import { createGoTemplate, GoTemplateError, renderGoChat } from "./go_template/mod.ts";
import { ImageMarks } from "./image_marks.ts";
import { encodePrompt, type Prompt } from "./prompt.ts";
import { type PromptItem, promptLength } from "./prompt_images.ts";
import type { ChatEvent, ChatMessage, ChatRequest, OutputFormat, Tool, ToolCall } from "./types.ts";

/** A model that can chat. */
export interface ChatContext extends GenerateContext {
  /** Undefined where the file has none: then the messages' texts are the prompt. */
  readonly template: ChatTemplate | undefined;
  /** How the models of the template answer. */
  readonly answers: AnswerFormat;
}

/** Makes a prompt of a text with marks for images. */
export type SplitPrompt = (prompt: string) => Prompt;

/** The prompt text of a conversation, images as `[img-N]`. Errors: RequestError, ChatTemplateError. */
export function renderChat(context: ChatContext, request: ChatRequest): string {
  const marks = new ImageMarks();
  return marks.show(rendererOf(context, request)(marks.placeInMessages(request.messages)));
}

/** Tokens of the prompt that chat() would run. Errors as of chat(). */
export function countTokens(
  context: ChatContext,
  request: ChatRequest,
  split?: SplitPrompt,
): number {
  return promptLength(chatPrompt(context, request, split));
}

/** The prompt that chat() would run. Errors as of chat(). */
export function chatPrompt(
  context: ChatContext,
  request: ChatRequest,
  split?: SplitPrompt,
): readonly PromptItem[] {
  return fit(context, request, split).items;
}

/**
 * Answers a conversation. Errors as of generate(), and of renderChat().
 *
 * @param split puts images in place of the marks that messages have for them
 */
export function chat(
  context: ChatContext,
  request: ChatRequest,
  split?: SplitPrompt,
): AsyncIterableIterator<ChatEvent> {
  const { answers, tokenizer } = context;
  const {
    messages: _messages,
    tools: _tools,
    toolChoice: _toolChoice,
    parallelToolCalls: _parallelToolCalls,
    template: _template,
    ...rest
  } = request;
  const tools = new ChatTools(offered(request), tokenizer);
  const { prompt, items, dropped } = fit(context, request, split);
  const format = formatOf(answers, request, prompt, tools.callable);
  const events = generate(
    context,
    {
      ...rest,
      prompt: items,
      // What came before is in the prompt; that it was given asks for a context at the end.
      ...(rest.context && { context: [] }),
      ...(format !== undefined && { format }),
    },
    { showControl: answers.thinking !== undefined || answers.calls !== undefined },
  );
  const parser = answers.parser({
    prompt,
    tools: tools.callable,
    // Only arguments that a mask keeps right can be given out before they are whole.
    streaming: format !== undefined && tools.callable.length > 0,
  });
  return new AnswerStream(events, { parser, thinking: answers.thinking, tools, dropped });
}

/** The tools that a call may be of. */
function offered({ tools = [], toolChoice = "auto" }: ChatRequest): readonly Tool[] {
  if (toolChoice === "none") return [];
  if (typeof toolChoice === "string") return tools;
  const chosen = tools.filter(({ function: { name } }) => name === toolChoice.name);
  if (chosen.length > 0) return chosen;
  throw new RequestError(`Cannot call "${toolChoice.name}": no tool of that name was given`);
}

/** The prompt of a conversation, without the oldest turns where they do not fit the window. */
function fit(
  context: ChatContext,
  request: ChatRequest,
  split: SplitPrompt = (prompt) => prompt,
): { prompt: string; items: PromptItem[]; dropped: number } {
  const render = rendererOf(context, request);
  let { messages } = request;
  for (;;) {
    const prompt = render(messages);
    try {
      // The template writes BOS where the model wants it; encoding adds none twice.
      const items = encodePrompt(context, { prompt: split(prompt), context: request.context });
      return { prompt, items, dropped: request.messages.length - messages.length };
    } catch (error) {
      const isTooLong = error instanceof ContextLengthError && (request.truncate ?? true);
      const shorter = isTooLong && withoutOldest(messages);
      if (!shorter) throw error;
      messages = shorter;
    }
  }
}

/** What the whole answer must look like, thinking and calls included; undefined: anything goes. */
function formatOf(
  answers: AnswerFormat,
  { format, toolChoice = "auto", parallelToolCalls = true }: ChatRequest,
  prompt: string,
  tools: readonly CallableTool[],
): OutputFormat | undefined {
  if (typeof format === "object" && !("schema" in format)) return format;
  const choice = tools.length === 0 ? "none" : toolChoice === "auto" ? "auto" : "required";
  const schema = format === "json" ? { type: "object" } : format?.schema;
  const grammar = answers.grammar({
    prompt,
    tools,
    choice,
    parallel: parallelToolCalls,
    ...(schema !== undefined && { schema }),
  });
  return grammar && { grammar };
}

/** What makes a prompt of messages; a template of the request is parsed once for all attempts. */
function rendererOf(
  context: ChatContext,
  { think, tools, template }: ChatRequest,
): (messages: readonly ChatMessage[]) => string {
  if (template !== undefined) {
    return refusingFaults(() => {
      const parsed = createGoTemplate(template);
      return (messages) => refusingFaults(() => renderGoChat(parsed, { messages, tools, think }));
    });
  }
  const own = context.template;
  if (!own) return plainPrompt;
  const variables = think === undefined
    ? {}
    : { enable_thinking: think !== false, thinking: think !== false, ...effort(think) };
  return (messages) =>
    own.render({
      messages: messages.map(templateMessage),
      ...(tools ? { tools } : {}),
      addGenerationPrompt: true,
      variables,
    });
}

/** The faults of a request's template are the client's. */
function refusingFaults<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof GoTemplateError)) throw error;
    throw new RequestError(error.message, { cause: error });
  }
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
