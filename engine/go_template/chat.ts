// From a conversation to a prompt by a Go template, as Ollama does it: all at once where the
// template asks for the messages, turn by turn where it knows only a prompt and its answer.

import { joinTexts, plain, RenderBudget, taint, type Text } from "../../tokenizer/mod.ts";
import type { ChatMessage, ChatRequest, Tool } from "../types.ts";
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
  /** Whether, and how hard, the model thinks; left out, templates see that nobody said. */
  think?: ChatRequest["think"] | undefined;
}

/** Text around a gap that the model fills. */
export interface GoFillInMiddle {
  /** What stands in front of the gap. */
  prompt: string;
  /** What stands behind it. */
  suffix: string;
  /** As in GoChat. */
  think?: ChatRequest["think"] | undefined;
}

/** The prompt of a conversation. Error: GoTemplateError. */
export function renderGoChat(template: GoTemplate, chat: GoChat): string {
  return plain(renderGoChatText(template, chat, new RenderBudget()));
}

/**
 * The same, with what is data in it: the texts of messages and tools.
 *
 * @param budget of this and other renderings together
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

/** The prompt for filling a gap, by a template that knows `.Suffix`. Error: GoTemplateError. */
export function renderGoFillInMiddle(template: GoTemplate, fillInMiddle: GoFillInMiddle): string {
  return template.render({
    Prompt: taint(fillInMiddle.prompt),
    Suffix: taint(fillInMiddle.suffix),
    Response: "",
    ...thinkingValues(fillInMiddle.think),
  });
}

/** Each question with its answer in a rendering of its own, the last one up to the answer. */
function renderTurns(
  template: GoTemplate,
  messages: readonly ChatMessage[],
  thinking: Readonly<Record<string, GoValue>>,
): Text {
  const none = { System: "" as Text, Prompt: "" as Text, Response: "" as Text };
  const texts: Text[] = [];
  let turn = none;
  const finish = () => {
    texts.push(template.renderText({ ...turn, ...thinking }));
    turn = none;
  };
  for (const { role, content } of messages) {
    if (role === "system") {
      if (turn.Prompt !== "" || turn.Response !== "") finish();
      turn = { ...turn, System: taint(content) };
    } else if (role === "user") {
      if (turn.Response !== "") finish();
      turn = { ...turn, Prompt: taint(content) };
    } else if (role === "assistant") {
      turn = { ...turn, Response: taint(content) };
    }
  }
  return joinTexts([...texts, template.renderPrompt({ ...turn, ...thinking })]);
}

/** The messages with neighbors of the same role made one, but for the answers of tools. */
function mergeNeighbors(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role && message.role !== "tool") {
      merged[merged.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
    } else {
      merged.push(message);
    }
  }
  return merged;
}

/** The names that Ollama has for it; thinking without a level is of the level medium. */
function thinkingValues(think: ChatRequest["think"] | undefined): Record<string, GoValue> {
  return {
    Think: think !== undefined && think !== false,
    ThinkLevel: think === true ? "medium" : think || "",
    IsThinkSet: think !== undefined,
  };
}
