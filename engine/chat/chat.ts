// From a conversation to a prompt and its answer. The oldest turns are dropped if the window is too
// small. The generation's stream is split into text, thinking and tool calls.

import { type ChatTemplate, plain, type Text } from "../../tokenizer/mod.ts";
import { ContextLengthError, RequestError } from "../errors.ts";
import {
  answer,
  type AnswerEnding,
  type GenerateContext,
  type ThinkingSyntax,
} from "../generate/mod.ts";
import {
  encodePrompt,
  MediaMarks,
  type Prompt,
  type PromptItem,
  promptLength,
} from "../prompt/mod.ts";
import type { ChatEvent, ChatMessage, ChatRequest, OutputFormat, Tool } from "../types/mod.ts";
import { beginsThinking, endsThinking } from "./answers/answer_parser.ts";
import type { AnswerFormat, CallableTool } from "./answers/types.ts";
import { AnswerStream, ChatReader } from "./chat_reader.ts";
import { bindResults, ChatTools } from "./chat_tools.ts";
import {
  continuesFinalMessage,
  promptText,
  renderContinued,
  type RenderedPrompt,
} from "./continuation.ts";
import { fewestToDrop, type Measured, turnsOf, unitsOf } from "./fit.ts";
import { renderingTools } from "./generic_tools.ts";
import { createRenderer } from "./render.ts";

/** A model that can chat. */
export interface ChatContext extends GenerateContext {
  /** Undefined if the file has none. Then the prompt is the messages' texts. */
  readonly template: ChatTemplate | undefined;
  /** The answer format of the template's models. */
  readonly answers: AnswerFormat;
}

/** Makes a prompt of a text with marks for images. */
export type SplitPrompt = (prompt: Text) => Prompt;

/**
 * The text of a conversation's prompt, images as `[img-N]`. Errors: RequestError,
 * ChatTemplateError.
 */
export function renderChat(context: ChatContext, request: ChatRequest): string {
  const marks = new MediaMarks();
  const messages = marks.markMessages(request.messages);
  return marks.show(plain(promptText(rendererOf(context, request)(messages))));
}

/** The context whose answers may call the tools of a request, whatever its template knows of them. */
function withTools(context: ChatContext, { tools = [] }: ChatRequest): ChatContext {
  const { answers } = context;
  return tools.length > 0 && answers.withTools
    ? { ...context, answers: answers.withTools }
    : context;
}

/**
 * The text of a conversation's prompt up to the text of its answer, which comes without thinking.
 * Errors: RequestError, ChatTemplateError.
 */
export function promptBeforeAnswer(
  context: ChatContext,
  { messages, template }: Pick<ChatRequest, "messages" | "template">,
): Text {
  const answered = [...messages, { role: "assistant" as const, content: "?" }];
  const request = { messages: answered, think: false, ...(template !== undefined && { template }) };
  return rendererOf(context, request)(answered).head;
}

/** The number of tokens of chat()'s prompt. Errors: those of chat(). */
export function countTokens(
  context: ChatContext,
  request: ChatRequest,
  split?: SplitPrompt,
): number {
  return promptLength(chatPrompt(context, request, split));
}

/** The prompt of chat(). Errors: those of chat(). */
export function chatPrompt(
  context: ChatContext,
  request: ChatRequest,
  split?: SplitPrompt,
): readonly PromptItem[] {
  return fit(context, request, split).items;
}

/**
 * Answers a conversation. Errors: those of answer() and of renderChat().
 *
 * @param split puts images in place of their marks
 */
export function chat(
  given: ChatContext,
  request: ChatRequest,
  split?: SplitPrompt,
): AsyncIterableIterator<ChatEvent> {
  const context = withTools(given, request);
  const { answers, tokenizer } = context;
  const {
    messages: _messages,
    tools: _tools,
    toolChoice: _toolChoice,
    parallelToolCalls: _parallelToolCalls,
    template: _template,
    continueFinalMessage: _continueFinalMessage,
    ...rest
  } = request;
  const tools = new ChatTools(offered(request), tokenizer, {
    ...request.openObjects !== undefined && { openObjects: request.openObjects },
    calls: answers.calls,
  });
  const { prompt, begun, items, dropped } = fit(given, request, split);
  const format = formatOf(answers, request, prompt, tools.callable);
  const reading = {
    answers,
    prompt,
    begun,
    tools: tools.callable,
    stops: request.stop ?? [],
    includesStop: request.includeStop ?? false,
  };
  const events = answer(
    context,
    {
      ...rest,
      prompt: items,
      // The given context is part of the prompt already. An empty one here asks for a context at
      // the end.
      ...(rest.context && { context: [] }),
      ...(format !== undefined && { format }),
    },
    new ChatReader(reading),
    {
      showControl: answers.thinking !== undefined || answers.calls !== undefined,
      thinking: thinkingOf(answers, prompt, begun),
      begun,
      ending: endingOf(request),
      title: titleOf(request.messages),
      locate: (offset) => messageAt(offset, request.messages, prompt),
    },
  );
  return new AnswerStream(events, { tools, dropped });
}

/** Characters of a message by which people know a conversation. */
const TITLE_LENGTH = 80;

/** What the user wrote first, without what programs put before it between tags. */
function titleOf(messages: readonly ChatMessage[]): string {
  const texts = messages.filter(({ role }) => role === "user").map(({ content }) =>
    content.replace(/^\s*(<([\w-]+)>[^]*?<\/\2>\s*)+/, "").replaceAll(/\s+/g, " ").trim()
  );
  return texts.find((text) => text !== "")?.slice(0, TITLE_LENGTH) ?? "";
}

/** The message that a place of a prompt's text lies in: the first that reaches beyond it. */
function messageAt(
  offset: number,
  messages: readonly ChatMessage[],
  prompt: string,
): number | undefined {
  let from = 0;
  for (const [position, { content, index = position }] of messages.entries()) {
    const text = content.trim();
    const start = prompt.indexOf(text, from);
    if (text === "" || start < 0) continue;
    from = start + text.length;
    if (from > offset) return index;
  }
  return undefined;
}

/** The marks of thinking in the rest of an answer to a prompt; undefined if it does not think. */
function thinkingOf(
  { thinking }: AnswerFormat,
  prompt: string,
  begun: string,
): ThinkingSyntax | undefined {
  if (!thinking || endsThinking(prompt, thinking)) return undefined;
  const isBegun = beginsThinking(prompt, thinking);
  return isBegun || begun === "" ? { ...thinking, begun: isBegun } : undefined;
}

/** What becomes of an answer when tokens run out. */
function endingOf({ format, toolChoice = "auto" }: ChatRequest): AnswerEnding {
  if (format !== undefined) return "document";
  return toolChoice === "auto" ? "text" : "call";
}

/** The tools that may be called. */
function offered({ tools = [], toolChoice = "auto" }: ChatRequest): readonly Tool[] {
  if (toolChoice === "none") return [];
  if (typeof toolChoice === "string") return tools;
  const chosen = tools.filter(({ function: { name } }) => name === toolChoice.name);
  if (chosen.length > 0) return chosen;
  throw new RequestError(`Cannot call "${toolChoice.name}": no tool of that name was given`);
}

/** A prompt, as text and as tokens. */
interface FittedPrompt {
  /** The text up to the answer. */
  readonly prompt: string;
  /** The beginning of the answer, if that continues a message. */
  readonly begun: string;
  readonly items: PromptItem[];
  /** Messages that were dropped because they did not fit. */
  readonly dropped: readonly ChatMessage[];
}

/** The prompt of a conversation, without the oldest turns if they do not fit the window. */
function fit(
  context: ChatContext,
  request: ChatRequest,
  split: SplitPrompt = (prompt) => prompt,
): FittedPrompt {
  const { messages } = request;
  const render = rendererOf(context, request);
  const turns = turnsOf(messages);
  let fitted: FittedPrompt | undefined;
  let failure: unknown;
  const measure = (count: number): Measured => {
    const gone = new Set(turns.slice(0, count).flat());
    try {
      const rendered = render(messages.filter((_, index) => !gone.has(index)));
      const prompt = split(promptText(rendered));
      // The template writes BOS if the model wants it, and encoding does not add another.
      const items = encodePrompt(context, { prompt, context: request.context });
      const dropped = messages.filter((_, index) => gone.has(index));
      fitted = { prompt: plain(rendered.head), begun: rendered.begun, items, dropped };
      return { fits: true, tokens: promptLength(items) };
    } catch (error) {
      if (!(error instanceof ContextLengthError)) throw error;
      failure = error;
      return { fits: false, tokens: error.promptTokens };
    }
  };
  // The last turn has what is to be answered.
  const droppable = (request.truncate ?? true) ? turns.slice(0, -1) : [];
  const units = droppable.map((turn) => unitsOf(turn.map((index) => messages[index]!)));
  const kept = unitsOf(messages) - units.reduce((sum, own) => sum + own, 0);
  // The last prompt that fits is the one without the fewest turns.
  fewestToDrop(units, kept, context.contextLength, measure);
  if (!fitted) throw failure;
  return fitted;
}

/** The function that makes the prompt of messages. Errors: those of the function, RequestError. */
function rendererOf({ template, answers }: ChatContext, request: ChatRequest) {
  const isContinued = continuesFinalMessage(request);
  // Many templates show thinking only where it is turned on.
  const think = request.think ??
    (isContinued && request.messages.at(-1)?.thinking ? true : undefined);
  const { tools = [] } = request;
  const told = answers.withTools !== undefined &&
    (tools.length > 0 || request.messages.some(isOfCalls));
  const written = createRenderer(template, {
    ...request,
    ...(think !== undefined && { think }),
    ...(told && { tools: [] }),
  });
  const render = told ? renderingTools(written, tools) : written;
  return (messages: readonly ChatMessage[]): RenderedPrompt => {
    const bound = bindResults(messages);
    return isContinued
      ? renderContinued(render, bound, answers.thinking)
      : { head: render(bound), begun: "" };
  };
}

/** Whether a message has calls, or is the result of one. */
function isOfCalls({ role, toolCalls = [] }: ChatMessage): boolean {
  return role === "tool" || toolCalls.length > 0;
}

/** The grammar of the whole answer, with thinking and calls; undefined if anything is allowed. */
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
