// What a model's creator chose, put where a request leaves it open: parameters under its options, a
// system prompt, turns and a template into its conversation. The same for all dialects, and pure.

import {
  type ChatMessage,
  type ChatRequest,
  isParameterValue,
  type ModelInfo,
  type StoreEntry,
} from "../../../engine/mod.ts";
import { hasEffect } from "./options.ts";

/** What of a model its requests are completed from. */
export type DefaultedModel = Pick<StoreEntry, "info" | "source" | "defaults">;

/**
 * The body of a request with the model's parameters under its `options`. Those that nothing here reads
 * are left out, and so are those whose values another program would have to understand.
 */
export function withParameters<T extends { options?: object | null | undefined }>(
  body: T,
  { defaults }: DefaultedModel,
): T {
  const parameters = Object.entries(defaults.parameters)
    .filter(([name, value]) => hasEffect(name) && isParameterValue(name, value));
  if (parameters.length === 0) return body;
  const given = Object.entries(body.options ?? {}).filter(([, value]) => value != null);
  return { ...body, options: Object.fromEntries([...parameters, ...given]) };
}

/**
 * The facts by which a request is read: a model with a template or a system prompt of its own lays out
 * prompts although its file has no template.
 */
export function effectiveInfo(model: DefaultedModel): ModelInfo {
  const { info, defaults } = model;
  const laysOut = templateOf(model) !== undefined || Boolean(defaults.system);
  return laysOut ? { ...info, hasChatTemplate: true } : info;
}

/**
 * The conversation with the model's system prompt, unless it has one; the model's turns before its
 * own; and the model's template. What goes on from the tokens of an earlier answer has the first two.
 */
export function withConversation(request: ChatRequest, model: DefaultedModel): ChatRequest {
  const template = request.template ?? templateOf(model);
  return {
    ...request,
    messages: request.context?.length ? request.messages : begun(request.messages, model),
    ...(template !== undefined && { template }),
  };
}

/** A task of a dialect's translation, its conversation completed if it is one. */
export function completed<T extends { kind: string }>(task: T, model: DefaultedModel): T {
  return isChat(task) ? { ...task, request: withConversation(task.request, model) } : task;
}

function isChat<T extends { kind: string }>(task: T): task is T & { request: ChatRequest } {
  return task.kind === "chat";
}

/** The template in Go's language that takes the place of the file's own, if there is one. */
export function templateOf({ info, source, defaults }: DefaultedModel): string | undefined {
  const { template, templateSource } = defaults;
  const isChosen = templateSource === "modelfile" || !info.hasChatTemplate;
  return source.kind === "files" && isChosen ? template : undefined;
}

function begun(messages: ChatMessage[], { defaults }: DefaultedModel): ChatMessage[] {
  const hasSystem = messages.some(({ role }) => role === "system");
  const system: ChatMessage[] = defaults.system && !hasSystem
    ? [{ role: "system", content: defaults.system }]
    : [];
  // Templates want the system prompt first, wherever it comes from.
  const own = messages.findIndex(({ role }) => role !== "system");
  const split = own < 0 ? messages.length : own;
  const turns = defaults.messages.map(({ role, content }) => ({
    role: role as ChatMessage["role"],
    content,
  }));
  return [...system, ...messages.slice(0, split), ...turns, ...messages.slice(split)];
}
