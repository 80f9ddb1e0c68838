// The parts of the translation that OpenAI's endpoints share. Pure. The defaults of temperature and top_p
// are OpenAI's, not the native API's.

import type { ModelInfo, ReportOptions } from "../../../../engine/mod.ts";
import { isAlternatives, MOST_ALTERNATIVES } from "../logprobs.ts";
import type { ResponseFormat } from "../formats.ts";
import { readWishes, type Wishes } from "../wishes.ts";
import type { Given } from "../../body/schema.ts";
import type { Task, Translation } from "../handler.ts";
import { refusal } from "./errors.ts";
import type { OpenAiBody } from "./schema.ts";

/**
 * Sampling, limits, format, thinking and loading.
 *
 * @param formats that stand in members of one endpoint alone, by their names
 * @throws {HttpError} 400 for what cannot be done
 */
export function readCommon(
  body: OpenAiBody & { text?: Given<Pick<OpenAiBody, "verbosity">> },
  info: ModelInfo,
  formats: Record<string, ResponseFormat | undefined> = {},
): Wishes {
  const wishes = readWishes(body, info, { defaults: { temperature: 1, top_p: 1 }, formats });
  const asked = body.verbosity ?? body.text?.verbosity;
  if (!asked || asked === "medium") return wishes;
  const warning = `verbosity: "${asked}" changes nothing, as models are not trained for it: say ` +
    "in the instructions how long an answer is to be";
  const warnings = [...wishes.around.warnings ?? [], warning];
  return { ...wishes, around: { ...wishes.around, warnings } };
}

/** Most answers of one request. */
const MOST_ANSWERS = 256;

/**
 * The tasks of several answers to each prompt, those to one prompt in a row. A seed is that of the
 * first; the others have the next ones, so that they differ.
 *
 * @param count `n` of the body
 * @param tasks one for each prompt
 * @throws {HttpError} 400 if that is out of range
 */
export function readAnswers(
  count: Given<number>,
  tasks: readonly Task[],
): Pick<Translation, "tasks" | "answersPerPrompt"> {
  const answersPerPrompt = count ?? 1;
  if (answersPerPrompt < 1) throw refusal("n must be at least 1", "n");
  if (answersPerPrompt * tasks.length > MOST_ANSWERS) {
    throw refusal(`n: at most ${MOST_ANSWERS} answers per request, to all prompts together`, "n");
  }
  const indices = Array.from({ length: answersPerPrompt }, (_, index) => index);
  return {
    tasks: tasks.flatMap((task) => indices.map((index) => withLaterSeed(task, index))),
    answersPerPrompt,
  };
}

function withLaterSeed(task: Task, index: number): Task {
  const { seed } = task.request;
  if (index === 0 || seed === undefined || seed < 0) return task;
  const later = { seed: seed + index };
  return task.kind === "chat"
    ? { ...task, request: { ...task.request, ...later } }
    : { ...task, request: { ...task.request, ...later } };
}

/**
 * How many alternatives of each token the answer is to tell; empty if no log-probabilities are wanted.
 *
 * @param param the member that says so, for an error
 * @throws {HttpError} 400 if that is out of range
 */
export function readAlternatives(
  isAsked: boolean,
  count: Given<number>,
  param: string,
): ReportOptions {
  const logprobs = count ?? 0;
  if (!isAlternatives(logprobs)) {
    throw refusal(`${param} must be between 0 and ${MOST_ALTERNATIVES}`, param);
  }
  if (isAsked) return { logprobs };
  if (logprobs > 0) throw refusal(`${param} needs logprobs to be true`, param);
  return {};
}
