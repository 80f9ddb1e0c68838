// The parts of the translation that OpenAI's endpoints share. Pure. The defaults of temperature and top_p
// are OpenAI's, not the native API's.

import type { ModelInfo, ReportOptions } from "../../../../engine/mod.ts";
import { isAlternatives, MOST_ALTERNATIVES } from "../logprobs.ts";
import type { ResponseFormat } from "../formats.ts";
import { readWishes, type Wishes } from "../wishes.ts";
import type { Given } from "../../body/schema.ts";
import { refusal } from "./errors.ts";
import type { OpenAiBody } from "./schema.ts";

/**
 * Sampling, limits, format, thinking and loading.
 *
 * @param formats that stand in members of one endpoint alone, by their names
 * @throws {HttpError} 400 for what cannot be done
 */
export function readCommon(
  body: OpenAiBody,
  info: ModelInfo,
  formats: Record<string, ResponseFormat | undefined> = {},
): Wishes {
  const { n, logit_bias: bias } = body;
  if (n != null && n !== 1) throw refusal("n must be 1: one answer per request", "n");
  if (bias && Object.keys(bias).length > 0) {
    throw refusal("logit_bias: not available yet", "logit_bias");
  }
  return readWishes(body, info, { defaults: { temperature: 1, top_p: 1 }, formats });
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
