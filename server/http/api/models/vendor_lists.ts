// Models as the lists of OpenAI and of Anthropic show them: the same path serves the clients of both.
// Pure. Formats: https://platform.openai.com/docs/api-reference/models and
// https://docs.anthropic.com/en/api/models-list

import type { StoreEntry } from "../../../../engine/mod.ts";

/** A model for OpenAI's clients. */
export interface OpenAiModel {
  id: string;
  object: "model";
  /** Seconds since 1970. */
  created: number;
  /** The namespace of its name. */
  owned_by: string;
}

/** A model for Anthropic's clients. */
export interface AnthropicModel {
  type: "model";
  id: string;
  display_name: string;
  created_at: string;
}

/** @param id its name; as the client wrote it where it asked for one */
export function toOpenAiModel({ name, modified }: StoreEntry, id = name): OpenAiModel {
  const created = Math.floor(modified.getTime() / 1000);
  return { id, object: "model", created, owned_by: name.split("/").at(-2) ?? "library" };
}

/** @param id as of toOpenAiModel() */
export function toAnthropicModel({ name, modified }: StoreEntry, id = name): AnthropicModel {
  return { type: "model", id, display_name: name, created_at: modified.toISOString() };
}

/** The list for OpenAI's clients. */
export function toOpenAiModels(entries: readonly StoreEntry[]) {
  return { object: "list", data: entries.map((entry) => toOpenAiModel(entry)) };
}

/** The list for Anthropic's clients: one page. */
export function toAnthropicModels(entries: readonly StoreEntry[]) {
  return {
    data: entries.map((entry) => toAnthropicModel(entry)),
    has_more: false,
    first_id: entries[0]?.name ?? null,
    last_id: entries.at(-1)?.name ?? null,
  };
}
