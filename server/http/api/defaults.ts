// The defaults of a model, which its creator chose, put into requests that do not say otherwise:
// parameters as options, a system prompt, turns and a template in the conversation. Used by all
// dialects. Pure.

import {
  type ChatMessage,
  type ChatRequest,
  isParameterValue,
  type ModelInfo,
  type StoreEntry,
} from "../../../engine/mod.ts";
import { hasEffect } from "./options.ts";

const PROMPT_ALONE = /^\s*\{\{-?\s*\.Prompt\s*-?\}\}\s*$/;

/** The parts of a model that its requests are completed with. */
export type DefaultedModel = Pick<StoreEntry, "info" | "source" | "defaults">;

/**
 * The body of a request with the model's parameters as defaults of its `options`. Parameters that
 * have no effect here, or values that no parameter can have, are left out.
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
 * The facts by which a request is read. With a template or a system prompt of its own, a model
 * counts as one with a chat template, even if its file has none.
 */
export function effectiveInfo(model: DefaultedModel): ModelInfo {
  const { info, defaults } = model;
  const laysOut = templateOf(model) !== undefined || Boolean(defaults.system);
  return laysOut ? { ...info, hasChatTemplate: true } : info;
}

/**
 * The request with the model's system prompt, unless it has one itself, with the model's turns
 * before its own, and with the model's template. A request that continues the tokens of an earlier
 * answer (`context`) has the first two already.
 */
export function withConversation(request: ChatRequest, model: DefaultedModel): ChatRequest {
  const template = request.template ?? templateOf(model);
  return {
    ...request,
    messages: request.context?.length ? request.messages : begun(request.messages, model),
    ...(template !== undefined && { template }),
  };
}

/** A task, completed with the model's defaults if it is a chat. */
export function completed<T extends { kind: string }>(task: T, model: DefaultedModel): T {
  return isChat(task) ? { ...task, request: withConversation(task.request, model) } : task;
}

function isChat<T extends { kind: string }>(task: T): task is T & { request: ChatRequest } {
  return task.kind === "chat";
}

/**
 * The model's Go template, if it is to be used instead of the template in its file. Beside a renderer
 * it is not: Ollama then has a function in its place, which does what the file's template does, and
 * the template, if it only says `{{ .Prompt }}`, says nothing at all.
 */
export function templateOf({ info, source, defaults }: DefaultedModel): string | undefined {
  const { template, templateSource, renderer } = defaults;
  if (source.kind !== "files" || renderer && PROMPT_ALONE.test(template ?? "")) return undefined;
  const isChosen = templateSource === "modelfile" && !renderer || !info.hasChatTemplate;
  return isChosen ? template : undefined;
}

function begun(messages: ChatMessage[], { defaults }: DefaultedModel): ChatMessage[] {
  const hasSystem = messages.some(({ role }) => role === "system");
  const system: ChatMessage[] = defaults.system && !hasSystem
    ? [{ role: "system", content: defaults.system }]
    : [];
  // Templates expect the system prompt first.
  const own = messages.findIndex(({ role }) => role !== "system");
  const split = own < 0 ? messages.length : own;
  const turns = defaults.messages.map(({ role, content }) => ({
    role: role as ChatMessage["role"],
    content,
  }));
  return [...system, ...messages.slice(0, split), ...turns, ...messages.slice(split)];
}
