// The conversations as the views see them, and what is done with them.

import { computed, signal } from "@preact/signals";
import { chosenModel } from "../api/models.ts";
import * as database from "./database.ts";
import { type Conversation, leafBelow, newConversation } from "./tree.ts";

/** All conversations, the newest first. */
export const conversations = signal<Conversation[]>([]);
/** The one that is shown: kept from its first message on. */
export const current = signal<Conversation>(newConversation(""));
/** What is searched for. */
export const query = signal("");

/** Those that have the words that are searched for. */
export const found = computed(() => {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return conversations.value;
  return conversations.value.filter((conversation) => {
    const text = searchable(conversation);
    return words.every((word) => text.includes(word));
  });
});

const texts = new WeakMap<Conversation, string>();

function searchable(conversation: Conversation): string {
  const known = texts.get(conversation);
  if (known !== undefined) return known;
  const text = [
    conversation.title,
    ...Object.values(conversation.nodes).map((node) => node.content),
  ]
    .join("\n").toLowerCase();
  texts.set(conversation, text);
  return text;
}

/** Reads what this browser has kept. */
export async function restore(): Promise<void> {
  const all = await database.readAll();
  conversations.value = all.sort((a, b) => b.updated - a.updated);
}

/** Shows a conversation as it is now, and keeps it in the list; on disk where it is to last. */
export function update(conversation: Conversation, isKept = true): void {
  if (current.value.id === conversation.id) current.value = conversation;
  if (!isKept) return;
  const others = conversations.value.filter(({ id }) => id !== conversation.id);
  if (Object.keys(conversation.nodes).length > 0) {
    conversations.value = [conversation, ...others];
    void database.write(conversation);
  }
}

/** Begins a conversation. */
export function begin(): void {
  current.value = newConversation(chosenModel.value?.name ?? "");
}

/** Shows another conversation. */
export function open(id: string): void {
  const found = conversations.value.find((one) => one.id === id);
  if (found) current.value = found;
}

/** Forgets a conversation. */
export async function forget(id: string): Promise<void> {
  conversations.value = conversations.value.filter((one) => one.id !== id);
  if (current.value.id === id) begin();
  await database.remove(id);
}

export async function take(all: readonly Conversation[]): Promise<void> {
  for (const one of all) await database.write(one);
  await restore();
}

/** Shows the branch that a message begins. */
export function showBranch(id: string): void {
  update({ ...current.value, leaf: leafBelow(current.value, id) });
}
