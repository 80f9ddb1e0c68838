// A conversation as a tree: an edited question or another answer is a branch beside the first, and
// nothing is lost. What is shown is the path to a leaf. Pure.

import type { TokenLogprob, ToolCall } from "../api/types.ts";

/** A picture, a sound or a text that goes with a message. */
export interface Attachment {
  name: string;
  kind: "image" | "sound" | "text";
  /** Base64 of an image or a sound, or the text. */
  content: string;
  /** Of an image or a sound, such as "image/png". */
  type: string;
}

/** What an answer took. Times in seconds. */
export interface AnswerFacts {
  model: string;
  promptTokens: number;
  cachedTokens: number;
  tokens: number;
  tokensPerSecond?: number;
  /** From the question to the first token, as the page saw it. */
  firstToken?: number;
  load: number;
  drafted: number;
  accepted: number;
  dropped: number;
  /** The ids of the messages of the conversation that were left out, the oldest first. */
  droppedIds?: string[];
  reason: string;
}

export interface MessageNode {
  id: string;
  parent: string | null;
  role: "user" | "assistant" | "tool";
  content: string;
  created: number;
  thinking?: string;
  toolCalls?: ToolCall[];
  toolName?: string;
  toolCallId?: string;
  attachments?: Attachment[];
  facts?: AnswerFacts;
  error?: string;
  logprobs?: TokenLogprob[];
}

/** What a conversation asks of the model besides its messages. */
export interface ChatSettings {
  system: string;
  think: string;
  tools: string;
  format: string;
  logprobs: boolean;
  options: Record<string, number | string[]>;
}

export interface Conversation {
  id: string;
  title: string;
  model: string;
  created: number;
  updated: number;
  settings: ChatSettings;
  nodes: Record<string, MessageNode>;
  /** Where the path that is shown ends. */
  leaf: string | null;
}

export const NO_SETTINGS: ChatSettings = {
  system: "",
  think: "",
  tools: "",
  format: "",
  logprobs: false,
  options: {},
};

/** A conversation without messages. */
export function newConversation(model: string, settings: ChatSettings = NO_SETTINGS): Conversation {
  const created = Date.now();
  return {
    id: newId(),
    title: "",
    model,
    created,
    updated: created,
    settings: { ...settings, options: { ...settings.options } },
    nodes: {},
    leaf: null,
  };
}

/** An id that no other message or conversation has. Not all pages are secure ones, so no randomUUID. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The messages from the first to the leaf. */
export function pathOf({ nodes, leaf }: Conversation, end: string | null = leaf): MessageNode[] {
  const path: MessageNode[] = [];
  for (
    let node = end ? nodes[end] : undefined;
    node;
    node = node.parent ? nodes[node.parent] : undefined
  ) {
    path.unshift(node);
  }
  return path;
}

/** The messages that might stand in the place of one, itself among them, the oldest first. */
export function siblingsOf({ nodes }: Conversation, { parent }: MessageNode): MessageNode[] {
  return Object.values(nodes)
    .filter((node) => node.parent === parent)
    .sort((a, b) => a.created - b.created);
}

/** The last message of the branch that a message begins: of several, the newest. */
export function leafBelow(conversation: Conversation, id: string): string {
  const children = Object.values(conversation.nodes)
    .filter(({ parent }) => parent === id)
    .sort((a, b) => b.created - a.created);
  return children[0] ? leafBelow(conversation, children[0].id) : id;
}

/** The conversation with one more message, at which the path now ends. */
export function withNode(conversation: Conversation, node: MessageNode): Conversation {
  const title = conversation.title || (node.role === "user" ? titleOf(node) : "");
  return {
    ...conversation,
    title,
    updated: Date.now(),
    nodes: { ...conversation.nodes, [node.id]: node },
    leaf: node.id,
  };
}

/** The first words of a message. */
function titleOf({ content, attachments }: MessageNode): string {
  const line = content.trim().split("\n")[0] || attachments?.[0]?.name || "";
  return line.length > 60 ? `${line.slice(0, 57).trimEnd()}…` : line;
}

/**
 * A message as the server wants it: texts stand before it, images go along if the model sees, sounds if
 * it hears.
 */
export function toWire(
  node: MessageNode,
  { sees, hears }: { sees: boolean; hears: boolean },
): Record<string, unknown> {
  const of = (wanted: Attachment["kind"]) =>
    (node.attachments ?? []).filter(({ kind }) => kind === wanted);
  const files = of("text")
    .map(({ name, content }) => `--- ${name} ---\n${content}\n--- end of ${name} ---\n\n`);
  const images = of("image").map(({ content }) => content);
  const audio = of("sound").map(({ content }) => content);
  return {
    role: node.role,
    content: files.join("") + node.content,
    ...(sees && images.length > 0 && { images }),
    ...(hears && audio.length > 0 && { audio }),
    ...(node.thinking && { thinking: node.thinking }),
    ...(node.toolCalls?.length && { tool_calls: node.toolCalls }),
    ...(node.toolName && { tool_name: node.toolName }),
    ...(node.toolCallId && { tool_call_id: node.toolCallId }),
  };
}
