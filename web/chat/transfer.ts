// Conversations as files: JSON, which keeps everything, and Markdown, which people read. Pure.

import { parseExact, writeExact } from "../api/exact_json.ts";
import {
  type Conversation,
  type MessageNode,
  newConversation,
  newId,
  pathOf,
  withNode,
} from "./tree.ts";

const FORMAT = "quern-conversations";

export function toJson(conversations: readonly Conversation[]): string {
  return writeExact({ format: FORMAT, version: 1, conversations }, 1);
}

/** The path of a conversation that is shown, as Markdown that fromMarkdown() reads. */
export function toMarkdown(conversation: Conversation): string {
  const parts = [`# ${conversation.title}`];
  if (conversation.settings.system) parts.push(`## System\n\n${conversation.settings.system}`);
  for (const node of pathOf(conversation)) parts.push(`## ${HEADS[node.role]}\n\n${bodyOf(node)}`);
  return parts.join("\n\n") + "\n";
}

const HEADS = { user: "You", assistant: "Answer", tool: "Tool" } as const;

function bodyOf({ content, attachments = [], thinking, toolCalls }: MessageNode): string {
  const parts = attachments.map(({ name }) => `> Attached: ${name}`);
  if (thinking) parts.push(`<details><summary>Thinking</summary>\n\n${thinking}\n\n</details>`);
  if (content) parts.push(content);
  if (toolCalls) parts.push("```json\n" + writeExact(toolCalls, 2) + "\n```");
  return parts.join("\n\n");
}

/** The conversations of a file. @throws Error that says what is wrong with it */
export function readFile(name: string, content: string): Conversation[] {
  if (/\.(md|markdown|txt)$/i.test(name)) return [fromMarkdown(name, content)];
  const read = parseExact(content) as { conversations?: unknown } | null;
  const all = Array.isArray(read) ? read : read?.conversations ?? [read];
  if (!Array.isArray(all) || !all.every(isConversation)) {
    throw new Error(`${name} holds no conversations: they are what “Export” writes`);
  }
  // What is there already stays as it is.
  return all.map((one) => ({ ...one, id: newId() }));
}

function isConversation(value: unknown): value is Conversation {
  const { nodes, settings, title } = value as Conversation;
  return typeof title === "string" && typeof nodes === "object" && typeof settings === "object" &&
    Object.values(nodes).every(({ id, role, content }) =>
      typeof id === "string" && typeof content === "string" &&
      ["user", "assistant", "tool"].includes(role)
    );
}

function fromMarkdown(name: string, content: string): Conversation {
  const [head = "", ...sections] = content.split(/^## (?=(?:System|You|Answer|Tool)$)/m);
  if (sections.length === 0) {
    throw new Error(`${name} holds no conversation: its headings are not “## You” and “## Answer”`);
  }
  let conversation = newConversation("");
  conversation.title = /^# (.*)$/m.exec(head)?.[1]?.trim() || name;
  for (const [index, section] of sections.entries()) {
    const [kind = "", ...lines] = section.split("\n");
    const body = lines.join("\n").trim();
    if (kind === "System") {
      conversation.settings.system = body;
      continue;
    }
    const role = kind === "You" ? "user" : kind === "Tool" ? "tool" : "assistant";
    conversation = withNode(conversation, {
      id: newId(),
      parent: conversation.leaf,
      role,
      content: body,
      created: Date.now() + index,
    });
  }
  return conversation;
}
