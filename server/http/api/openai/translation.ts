// The parts of the translation that OpenAI's endpoints share: options, formats, thinking, refusals.
// Pure. The defaults of temperature and top_p are OpenAI's, not the native API's.

import type {
  ChatRequest,
  FormatOptions,
  ModelInfo,
  ReportOptions,
} from "../../../../engine/mod.ts";
import { isAlternatives, MOST_ALTERNATIVES } from "../logprobs.ts";
import { type EngineOptions, type Loading, readOptions } from "../options.ts";
import type { Given } from "../../body/schema.ts";
import { given } from "../../../given.ts";
import { refusal } from "./errors.ts";
import type { FormatType, OpenAiBody, SamplingBody } from "./schema.ts";

/** Sampling, limits and loading. */
export function readCommon(
  body: OpenAiBody & Partial<SamplingBody>,
  maxTokens: Given<number>,
): { loading: Loading; engine: EngineOptions } {
  const { stop } = body;
  return readOptions({
    temperature: 1,
    top_p: 1,
    ...given(body.options ?? {}),
    ...given({
      temperature: body.temperature,
      top_p: body.top_p,
      seed: body.seed,
      presence_penalty: body.presence_penalty,
      frequency_penalty: body.frequency_penalty,
      num_predict: maxTokens,
      open_objects: body.open_objects,
      stop: typeof stop === "string" ? [stop] : stop,
    }),
  }, body.keep_alive);
}

/**
 * What the answer must be.
 *
 * @param param the member that says so, for an error
 * @throws {HttpError} 400 if there is a format of a schema without one
 */
export function readFormat(
  type: FormatType | undefined,
  schema: unknown,
  param: string,
): FormatOptions {
  if (type === "json_object") return { format: "json" };
  if (type !== "json_schema") return {};
  if (schema != null) return { format: { schema } };
  throw refusal(`${param} of type json_schema lacks "schema"`, param);
}

/** The engine's levels of thinking by OpenAI's levels of effort. */
const THINK: Record<string, NonNullable<ChatRequest["think"]>> = {
  none: false,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
  ultra: "max",
  max: "max",
};

/**
 * Whether the model is to think, and how much.
 *
 * @throws {HttpError} 400 if there is no such level, or the model does not think
 */
export function readEffort(
  effort: Given<string>,
  body: OpenAiBody,
  { thinks }: ModelInfo,
  param: string,
): Pick<ChatRequest, "think"> {
  if (!effort) return {};
  if (!Object.hasOwn(THINK, effort)) {
    const levels = Object.keys(THINK).map((level) => `"${level}"`).join(", ");
    throw refusal(`invalid reasoning value: "${effort}" (must be one of ${levels})`, param);
  }
  const think = THINK[effort]!;
  if (think && !thinks) throw refusal(`"${body.model}" does not support thinking`, param);
  return { think };
}

/** @throws {HttpError} 400 for what this version does not do */
export function refuseInCompletions(
  { n, logit_bias: bias }: SamplingBody,
): void {
  if (n != null && n !== 1) throw refusal("n must be 1: one answer per request", "n");
  if (bias && Object.keys(bias).length > 0) {
    throw refusal("logit_bias: not available yet", "logit_bias");
  }
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
