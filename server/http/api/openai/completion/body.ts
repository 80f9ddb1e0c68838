// POST /v1/completions: the body -> one task per prompt, or several to choose from. A prompt is continued as
// it is, as text or token ids; with a suffix it is the text before a gap. With `raw: false`, or by a setting
// of the server, a text is a user's turn if the model has a chat template, as in Ollama. Pure.
// Format: https://platform.openai.com/docs/api-reference/completions/create

import type { ModelInfo } from "../../../../../engine/mod.ts";
import type { EngineOptions } from "../../options.ts";
import { isAlternatives, MOST_ALTERNATIVES } from "../../logprobs.ts";
import { given } from "../../../../given.ts";
import { refusal } from "../errors.ts";
import { refuseVariables } from "../../wishes.ts";
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
export function translateCompletion(
  body: CompletionBody,
  info: ModelInfo,
  completesChats: boolean,
): Translation {
  const prompts = readPrompts(body.prompt);
  refuse(body, info);
  const { engine: common, think, around } = readCommon(body, info);
  refuseVariables(think);
  if (think.think) {
    throw refusal("think: completions tell no thinking; use /v1/chat/completions", "think");
  }
  const { logprobs } = body;
  const engine = { ...common, ...readAlternatives(logprobs != null, logprobs, "logprobs") };
  const answers = answersOf(body);
  // The best are those whose tokens are the likeliest.
  if (answers.of > answers.given) engine.logprobs ??= 0;
  const tasks = prompts.map((prompt) => toTask(prompt, body, { info, engine, completesChats }));
  return { ...around, ...readAnswers(answers.of, tasks) };
}

/** How many answers to a prompt are given, and of how many. */
export function answersOf({ n, best_of: of }: CompletionBody): { given: number; of: number } {
  return { given: n ?? 1, of: of ?? n ?? 1 };
}

/** The texts that `echo` gives out before the continuations, one for each of these; "" of token ids. */
export function echoedPrompts(body: CompletionBody): string[] {
  if (!body.echo) return [];
  return readPrompts(body.prompt).flatMap((prompt) =>
    Array<string>(answersOf(body).of).fill(typeof prompt === "string" ? prompt : "")
  );
}

/** How many alternatives of each token of the prompt are to be found; undefined: it is not looked at. */
function promptAlternatives(body: CompletionBody, prompt: Prompt): number | undefined {
  const { echo, logprobs, prompt_logprobs: asked } = body;
  const echoed = echo ? logprobs ?? (typeof prompt === "string" ? undefined : 0) : undefined;
  if (echoed === undefined && asked == null) return undefined;
  return Math.max(echoed ?? 0, asked ?? 0);
}

function refuse(body: CompletionBody, info: ModelInfo): void {
  const { model, prompt_logprobs: alternatives } = body;
  if (info.isEmbeddingModel) throw refusal(`"${model}" does not support generate`, "model");
  if (body.suffix && !info.fillsInMiddle) {
    throw refusal(`"${model}" does not support insert`, "suffix");
  }
  const { given, of } = answersOf(body);
  if (of < given) throw refusal("best_of must be at least n", "best_of");
  if (of > given && body.stream) {
    throw refusal("best_of: answers can only be chosen from when they are whole", "best_of");
  }
  if (alternatives != null && !isAlternatives(alternatives)) {
    throw refusal(`prompt_logprobs must be between 0 and ${MOST_ALTERNATIVES}`, "prompt_logprobs");
  }
}

function toTask(
  prompt: Prompt,
  body: CompletionBody,
  { info: { hasChatTemplate, thinks }, engine, completesChats }: {
    info: ModelInfo;
    engine: EngineOptions;
    completesChats: boolean;
  },
): Task {
  const { raw, suffix } = body;
  const isTurn = !suffix && !(raw ?? !completesChats) && hasChatTemplate &&
    typeof prompt === "string";
  const promptLogprobs = promptAlternatives(body, prompt);
  if (promptLogprobs !== undefined && (isTurn || suffix)) {
    const member = body.prompt_logprobs == null ? "echo" : "prompt_logprobs";
    const why = suffix ? "a prompt with a suffix has none" : "a turn of a chat has none; set raw";
    throw refusal(`${member}: log-probabilities are of raw prompts, ${why}`, member);
  }
  if (!isTurn) {
    const more = { ...(suffix && { suffix }), ...given({ promptLogprobs }) };
    return { kind: "generate", request: { prompt, ...engine, ...more } };
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
