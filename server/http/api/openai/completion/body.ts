// POST /v1/completions: the body -> one task per prompt. As in Ollama, a text is a user's turn if
// the model has a chat template; otherwise, with `raw`, or as token ids, it is continued as it is;
// with a suffix it is the text before a gap. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/create

import type { ModelInfo } from "../../../../../engine/mod.ts";
import type { EngineOptions } from "../../options.ts";
import { refusal } from "../errors.ts";
import { readAlternatives, readAnswers, readCommon } from "../translation.ts";
import type { Task, Translation } from "../../handler.ts";
import type { CompletionBody } from "../schema.ts";

/** Most prompts of one request. */
const MOST_PROMPTS = 256;

type Prompt = string | number[];

/**
 * Translates the body.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateCompletion(body: CompletionBody, info: ModelInfo): Translation {
  const prompts = readPrompts(body.prompt);
  refuse(body, info, prompts);
  const { engine: common, think: { think }, around } = readCommon(body, info);
  if (think) {
    throw refusal("think: completions tell no thinking; use /v1/chat/completions", "think");
  }
  const { logprobs } = body;
  const engine = { ...common, ...readAlternatives(logprobs != null, logprobs, "logprobs") };
  const tasks = prompts.map((prompt) => toTask(prompt, body, info, engine));
  return { ...around, ...readAnswers(body.n, tasks) };
}

/** The texts that `echo` gives out before the continuations, one for each of these. */
export function echoedPrompts({ prompt, echo, n }: CompletionBody): string[] {
  if (!echo) return [];
  return (readPrompts(prompt) as string[]).flatMap((text) => Array<string>(n ?? 1).fill(text));
}

function refuse(body: CompletionBody, info: ModelInfo, prompts: Prompt[]): void {
  const { model } = body;
  if (info.isEmbeddingModel) throw refusal(`"${model}" does not support generate`, "model");
  if (body.suffix && !info.fillsInMiddle) {
    throw refusal(`"${model}" does not support insert`, "suffix");
  }
  if (body.best_of != null && body.best_of !== (body.n ?? 1)) {
    throw refusal("best_of must be the same as n: all answers are given", "best_of");
  }
  if (body.echo && body.logprobs != null) {
    throw refusal("echo: log-probabilities of prompts are not available", "echo");
  }
  if (body.echo && prompts.some((prompt) => typeof prompt !== "string")) {
    throw refusal("echo: only texts can be given out again, not token ids", "echo");
  }
}

function toTask(
  prompt: Prompt,
  { raw, suffix }: CompletionBody,
  { hasChatTemplate, thinks }: ModelInfo,
  engine: EngineOptions,
): Task {
  if (suffix) return { kind: "generate", request: { prompt, suffix, ...engine } };
  if (raw || !hasChatTemplate || typeof prompt !== "string") {
    return { kind: "generate", request: { prompt, ...engine } };
  }
  const messages = [{ role: "user" as const, content: prompt }];
  // These answers have no member for thinking.
  const think = thinks ? { think: false } : {};
  return { kind: "chat", request: { messages, ...engine, ...think, truncate: false } };
}

function readPrompts(prompt: unknown): Prompt[] {
  const isTokens = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every(Number.isInteger);
  const isPrompt = (value: unknown) => typeof value === "string" || isTokens(value);
  const prompts = isPrompt(prompt) ? [prompt] : prompt;
  if (!Array.isArray(prompts) || prompts.length === 0 || !prompts.every(isPrompt)) {
    throw refusal("prompt must be a text, token ids, or a list of either", "prompt");
  }
  if (prompts.length <= MOST_PROMPTS) return prompts;
  throw refusal(`prompt: at most ${MOST_PROMPTS} of them per request`, "prompt");
}
