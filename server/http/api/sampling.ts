// How a request samples and limits its answer, in every API: the options of Ollama, in `options` or beside
// it, and what OpenAI's and other servers call the same. Pure.

import {
  type BodyOf,
  closed,
  flag,
  type Given,
  integer,
  keepAlive,
  number,
  text,
  value,
} from "../body/schema.ts";
import { given } from "../../given.ts";
import { HttpError } from "../errors.ts";
import {
  type EngineOptions,
  type Loading,
  type OllamaOptions,
  options,
  readOptions,
} from "./options.ts";
import { samplerList, withoutOtherSamplers } from "./samplers.ts";

const { stop: _stop, ...withoutStop } = options.properties;

/** The members of requests about sampling, limits and the load. */
export const samplingMembers = {
  ...withoutStop,
  options,
  keep_alive: keepAlive,
  stop: {
    type: ["string", "array", "null"],
    items: { type: "string" },
    description: "A text, or several, that end the answer where they would come.",
  },
  max_tokens: { ...integer, description: "Most tokens of the answer. Default: up to its end." },
  max_completion_tokens: { ...integer, description: "The newer name of max_tokens." },
  max_output_tokens: { ...integer, description: "Another name of max_tokens." },
  n_predict: { ...integer, description: "What llama-server calls num_predict." },
  repetition_penalty: {
    ...number,
    description: "What vLLM calls repeat_penalty: it sees the whole window, prompt and answer.",
  },
  logit_bias: {
    type: ["object", "array", "null"],
    items: { type: "array", items: value },
    additionalProperties: value,
    description:
      "What is added to the logits of tokens: an object by token ids, as OpenAI has it, or pairs of an id " +
      "or a text and a number, as llama-server has it. false: the token never comes.",
  },
  stop_token_ids: {
    type: ["array", "null"],
    items: { type: "integer" },
    description: "Token ids that end the answer where they come, and are no part of it.",
  },
  allowed_token_ids: {
    type: ["array", "null"],
    items: { type: "integer" },
    description: "The only token ids that may come, that of the end among them; not with a format.",
  },
  samplers: {
    ...samplerList,
    description: "As llama-server has it: the only samplers that choose, in the order that they " +
      "have here; the others are off.",
  },
  no_stop_trim: { ...flag, description: "What SGLang calls include_stop_str_in_output." },
  draft_model: { ...text, description: "What LM Studio calls draft." },
  ttl: { ...integer, description: "What LM Studio calls keep_alive, in seconds." },
} as const;

const request = closed(samplingMembers);

/** A body with these members. */
export type SamplingBody = BodyOf<typeof request>;

/** Names of the most tokens of an answer, those that go first at the beginning. */
const LIMITS = [
  "max_output_tokens",
  "max_completion_tokens",
  "max_tokens",
  "n_predict",
  "num_predict",
] as const;

/**
 * Options of the engine and of the load. What stands beside `options` goes before what stands in it.
 *
 * @param defaults of the API
 * @throws {HttpError} 400 if `keep_alive` is no duration
 */
export function readSampling(
  body: SamplingBody,
  defaults: OllamaOptions = {},
): { engine: EngineOptions; loading: Loading } {
  const { stop, repetition_penalty: penalty } = body;
  const beside: OllamaOptions = {
    ...Object.fromEntries(
      Object.keys(withoutStop).map((name) => [name, body[name as keyof typeof withoutStop]]),
    ),
    stop: typeof stop === "string" ? [stop] : stop,
    include_stop_str_in_output: body.include_stop_str_in_output ?? body.no_stop_trim,
    num_predict: LIMITS.map((name) => body[name]).find(isGiven),
    draft: body.draft ?? body.draft_model,
    // The neutral penalty says nothing of how far another one reaches.
    ...(isGiven(penalty) && penalty !== 1 && { repeat_penalty: penalty, repeat_last_n: -1 }),
  };
  const asked = {
    ...defaults,
    ...given(body.options ?? {}),
    ...given(beside),
    ...withoutOtherSamplers(body.samplers),
  };
  const { engine, loading } = readOptions(asked, body.keep_alive ?? body.ttl);
  const logitBias = readLogitBias(body.logit_bias);
  const { stop_token_ids: stopTokens, allowed_token_ids: allowedTokens } = body;
  return {
    engine: {
      ...engine,
      ...(logitBias.length > 0 && { logitBias }),
      ...(stopTokens?.length && { stopTokens }),
      ...(allowedTokens?.length && { allowedTokens }),
    },
    loading,
  };
}

/** The tokens, or texts, of `logit_bias` with what is added to them. */
function readLogitBias(given: unknown): [token: number | string, bias: number][] {
  const pairs: unknown[][] = Array.isArray(given) ? given : Object.entries(given ?? {})
    .map(([name, bias]) => [/^\d+$/.test(name) ? Number(name) : name, bias]);
  return pairs.map(([what, bias, ...rest]) => {
    const isToken = typeof what === "string" && what !== "" || Number.isInteger(what);
    const added = bias === false ? -Infinity : bias;
    if (isToken && typeof added === "number" && rest.length === 0) {
      return [what as number | string, added];
    }
    throw new HttpError(
      400,
      "logit_bias must have token ids, or texts, each with a number or false",
      "logit_bias",
    );
  });
}

function isGiven<T>(value: Given<T>): value is T {
  return value !== null && value !== undefined;
}
