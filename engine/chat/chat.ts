// From a conversation to a prompt: the model's own Jinja template (without one, the texts as they
// are, as Ollama has it) or a Go template of the request, and the oldest turns dropped where the
// window is too small. What comes back is the generation's stream, taken apart into text, thinking
// and tool calls.

import {
  type ChatTemplate,
  ChatTemplateError,
  plain,
  RenderBudget,
  taint,
  type Text,
} from "../../tokenizer/mod.ts";
import { checkpoint } from "../cancellation.ts";
import { ContextLengthError, RequestError } from "../errors.ts";
import { generate, type GenerateContext, type ThinkingSyntax } from "../generate/mod.ts";
import { createGoTemplate, GoTemplateError, renderGoChatText } from "../go_template/mod.ts";
import {
  encodePrompt,
  ImageMarks,
  type Prompt,
  type PromptItem,
  promptLength,
} from "../prompt/mod.ts";
import type {
  ChatEvent,
  ChatMessage,
  ChatRequest,
  OutputFormat,
  Tool,
  ToolCall,
} from "../types.ts";
import { AnswerStream } from "./answer_stream.ts";
import { beginsThinking, endsThinking } from "./answers/answer_parser.ts";
import type { AnswerFormat, CallableTool } from "./answers/types.ts";
import { ChatTools } from "./chat_tools.ts";
import { fewestToDrop, type Measured } from "./fit.ts";

/** A model that can chat. */
export interface ChatContext extends GenerateContext {
  /** Undefined where the file has none: then the messages' texts are the prompt. */
  readonly template: ChatTemplate | undefined;
  /** How the models of the template answer. */
  readonly answers: AnswerFormat;
}

/** Makes a prompt of a text with marks for images. */
export type SplitPrompt = (prompt: Text) => Prompt;

/** The prompt text of a conversation, images as `[img-N]`. Errors: RequestError, ChatTemplateError. */
export function renderChat(context: ChatContext, request: ChatRequest): string {
  const marks = new ImageMarks();
  return marks.show(plain(rendererOf(context, request)(marks.placeInMessages(request.messages))));
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
  const tools = new ChatTools(offered(request), tokenizer, request);
  const { prompt, items, dropped: count } = fit(context, request, split);
  const dropped = turnsOf(request.messages).slice(0, count);
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
    {
      showControl: answers.thinking !== undefined || answers.calls !== undefined,
      thinking: thinkingOf(answers, prompt),
    },
  );
  const parser = answers.parser({
    prompt,
    tools: tools.callable,
    // Only arguments that a mask keeps right can be given out before they are whole.
    streaming: format !== undefined && tools.callable.length > 0,
  });
  return new AnswerStream(events, { parser, thinking: answers.thinking, tools, dropped });
}

/** How the answer to a prompt thinks; undefined where it does not. */
function thinkingOf({ thinking }: AnswerFormat, prompt: string): ThinkingSyntax | undefined {
  if (!thinking || endsThinking(prompt, thinking)) return undefined;
  return { ...thinking, begun: beginsThinking(prompt, thinking) };
}

/** The tools that a call may be of. */
function offered({ tools = [], toolChoice = "auto" }: ChatRequest): readonly Tool[] {
  if (toolChoice === "none") return [];
  if (typeof toolChoice === "string") return tools;
  const chosen = tools.filter(({ function: { name } }) => name === toolChoice.name);
  if (chosen.length > 0) return chosen;
  throw new RequestError(`Cannot call "${toolChoice.name}": no tool of that name was given`);
}

/** A prompt, as text and as tokens. */
interface FittedPrompt {
  readonly prompt: string;
  readonly items: PromptItem[];
  /** Messages that went because they did not fit. */
  readonly dropped: number;
}

/** The prompt of a conversation, without the oldest turns where they do not fit the window. */
function fit(
  context: ChatContext,
  request: ChatRequest,
  split: SplitPrompt = (prompt) => prompt,
): FittedPrompt {
  const { messages } = request;
  const render = rendererOf(context, request);
  let fitted: FittedPrompt | undefined;
  let failure: unknown;
  const measure = (dropped: number): Measured => {
    try {
      const prompt = render(withoutOldest(messages, dropped));
      // The template writes BOS where the model wants it; encoding adds none twice.
      const items = encodePrompt(context, { prompt: split(prompt), context: request.context });
      fitted = { prompt: plain(prompt), items, dropped };
      return { fits: true, tokens: promptLength(items) };
    } catch (error) {
      if (error instanceof ContextLengthError) {
        failure = error;
        return { fits: false, tokens: error.promptTokens };
      }
      // Some templates take no conversation that begins with an answer.
      const isRefused = error instanceof ChatTemplateError && error.fault === "refused";
      if (!isRefused || dropped === 0) throw error;
      failure ??= error;
      return { fits: false };
    }
  };
  const droppable = (request.truncate ?? true) ? turnsOf(messages) : [];
  const kept = unitsOf(messages) - unitsOf(droppable);
  // The last that fits is the one that drops the fewest.
  fewestToDrop(droppable, kept, context.contextLength, measure);
  if (!fitted) throw failure;
  return fitted;
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

/**
 * What makes a prompt of messages. All that messages and tools say is data in it. A template of the
 * request is parsed once for all attempts, and the attempts share a budget.
 */
function rendererOf(
  context: ChatContext,
  { messages: all, think, tools, template }: ChatRequest,
): (messages: readonly ChatMessage[]) => Text {
  const budget = new RenderBudget(unitsOf(all), checkpoint);
  if (template !== undefined) {
    return refusingFaults(() => {
      const parsed = createGoTemplate(template);
      return (messages) =>
        refusingFaults(() => renderGoChatText(parsed, { messages, tools, think }, budget));
    });
  }
  const own = context.template;
  if (!own) return plainPrompt;
  const variables = think === undefined
    ? {}
    : { enable_thinking: think !== false, thinking: think !== false, ...effort(think) };
  return (messages) =>
    own.renderText({
      messages: messages.map(templateMessage),
      ...(tools ? { tools } : {}),
      addGenerationPrompt: true,
      variables,
    }, budget);
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

/** The messages that may go where there is no room: system messages and the last one stay. */
function turnsOf(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.filter(({ role }, i) => role !== "system" && i < messages.length - 1);
}

/** The messages without so many of the oldest that may go. */
function withoutOldest(messages: readonly ChatMessage[], dropped: number): readonly ChatMessage[] {
  let left = dropped;
  return messages.filter(({ role }) => role === "system" || left-- <= 0);
}

/** UTF-16 units of all that messages say. */
function unitsOf(messages: readonly ChatMessage[]): number {
  return messages.reduce(
    (sum, { content, thinking = "" }) => sum + content.length + thinking.length,
    0,
  );
}
