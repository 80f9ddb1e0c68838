// From a conversation to a prompt by a Go template, as in Ollama: at once if the template uses the
// messages, or turn by turn if it only knows a prompt and its answer.

import { joinTexts, plain, RenderBudget, taint, type Text } from "../../tokenizer/mod.ts";
import type { ChatMessage, ChatRequest, Tool } from "../types/mod.ts";
import { toGoMessages, toGoTools } from "./conversation.ts";
import { refusingLimits } from "./errors.ts";
import type { GoTemplate } from "./template.ts";
import type { GoValue } from "./values.ts";

/** A conversation to render. */
export interface GoChat {
  /** The conversation so far, the oldest turn first. */
  messages: readonly ChatMessage[];
  /** Tools that the model may call. Default: none. */
  tools?: readonly Tool[] | undefined;
  /** Whether, and how hard, the model thinks. If missing, templates see that it was not set. */
  think?: ChatRequest["think"] | undefined;
}

/** Text around a gap that the model fills. */
export interface GoFillInMiddle {
  /** Text before the gap. */
  prompt: string;
  /** Text after the gap. */
  suffix: string;
  /** See GoChat. */
  think?: ChatRequest["think"] | undefined;
}

/** The prompt of a conversation. Errors: GoTemplateError. */
export function renderGoChat(template: GoTemplate, chat: GoChat): string {
  return plain(renderGoChatText(template, chat, new RenderBudget()));
}

/**
 * The prompt of a conversation, with the texts of messages and tools marked as data.
 *
 * @param budget shared with other renderings
 */
export function renderGoChatText(template: GoTemplate, chat: GoChat, budget: RenderBudget): Text {
  return budget.run(() => refusingLimits(() => renderConversation(template, chat)));
}

function renderConversation(template: GoTemplate, chat: GoChat): Text {
  const messages = mergeNeighbors(chat.messages);
  const thinking = thinkingValues(chat.think);
  if (!template.fields.has("Messages")) return renderTurns(template, messages, thinking);
  const system = chat.messages.filter(({ role }) => role === "system");
  return template.renderText({
    System: taint(system.map(({ content }) => content).join("\n\n")),
    Messages: toGoMessages(messages),
    Tools: chat.tools?.length ? toGoTools(chat.tools) : null,
    Response: "",
    ...thinking,
  });
}

/** The prompt for filling a gap, by a template that uses `.Suffix`. Errors: GoTemplateError. */
export function renderGoFillInMiddle(template: GoTemplate, fillInMiddle: GoFillInMiddle): string {
  return template.render({
    Prompt: taint(fillInMiddle.prompt),
    Suffix: taint(fillInMiddle.suffix),
    Response: "",
    ...thinkingValues(fillInMiddle.think),
  });
}

/** Renders each question with its answer separately, the last one up to the answer. */
function renderTurns(
  template: GoTemplate,
  messages: readonly ChatMessage[],
  thinking: Readonly<Record<string, GoValue>>,
): Text {
  const none = { System: "", Prompt: "", Response: "" };
  const texts: Text[] = [];
  let turn = none;
  const values = () => ({
    System: taint(turn.System),
    Prompt: taint(turn.Prompt),
    Response: taint(turn.Response),
    ...thinking,
  });
  const finish = () => {
    texts.push(template.renderText(values()));
    turn = none;
  };
  for (const { role, content } of messages) {
    if (role === "system") {
      if (turn.Prompt !== "" || turn.Response !== "") finish();
      turn = { ...turn, System: content };
    } else if (role === "user") {
      if (turn.Response !== "") finish();
      turn = { ...turn, Prompt: content };
    } else if (role === "assistant") {
      turn = { ...turn, Response: joinParagraphs(turn.Response, content) };
    }
  }
  return joinTexts([...texts, template.renderPrompt(values())]);
}

/**
 * The messages with neighbours of one role joined, as in Ollama, but without loss: results of tools
 * stay apart, and so do messages of an assistant whose parts would come in another order.
 */
function mergeNeighbors(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    const isJoined = last?.role === message.role && message.role !== "tool" &&
      (partsOf(last).at(-1) ?? 0) <= (partsOf(message)[0] ?? Infinity);
    if (isJoined) merged[merged.length - 1] = join(last, message);
    else merged.push(message);
  }
  return merged;
}

/** The parts that a message has, as numbers in the order in which templates show them. */
function partsOf({ thinking, content, toolCalls }: ChatMessage): number[] {
  return [thinking, content, toolCalls?.length].flatMap((part, place) => part ? [place] : []);
}

function join(first: ChatMessage, second: ChatMessage): ChatMessage {
  const thinking = joinParagraphs(first.thinking ?? "", second.thinking ?? "");
  const toolCalls = [...first.toolCalls ?? [], ...second.toolCalls ?? []];
  return {
    role: first.role,
    content: joinParagraphs(first.content, second.content),
    ...thinking !== "" && { thinking },
    ...toolCalls.length > 0 && { toolCalls },
  };
}

function joinParagraphs(...texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** The values under Ollama's names. Thinking without a level has the level medium. */
function thinkingValues(think: ChatRequest["think"] | undefined): Record<string, GoValue> {
  return {
    Think: think !== undefined && think !== false,
    ThinkLevel: think === true ? "medium" : think || "",
    IsThinkSet: think !== undefined,
  };
}
