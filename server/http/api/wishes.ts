// What a request of any API may ask of its answer, beside what its own API has: how it is sampled, how
// long it gets, which form it has, whether the model thinks. The names are those of all APIs, so that
// nothing is dropped because another server has it. Pure.

import type { ChatRequest, ModelInfo } from "../../../engine/mod.ts";
import { flag, type Given, text } from "../body/schema.ts";
import { HttpError } from "../errors.ts";
import { formatMembers, readFormat, type ResponseFormat } from "./formats.ts";
import type { FormatBody } from "./formats.ts";
import type { Translation } from "./handler.ts";
import type { EngineOptions, OllamaOptions } from "./options.ts";
import { type LoraBody, loraMembers, readLora } from "./lora.ts";
import { steeringMembers, type SteeringWish } from "./steering.ts";
import { readSampling, type SamplingBody, samplingMembers } from "./sampling.ts";
import { readThinking, type ThinkingBody, thinkingMembers } from "./thinking.ts";
import { unreadInRequests } from "./unread_members.ts";

/** The members of these wishes, and those without effect. */
export const wishes = {
  ...unreadInRequests,
  ...samplingMembers,
  ...formatMembers,
  ...thinkingMembers,
  ...steeringMembers,
  ...loraMembers,
  prompt_cache_key: {
    ...text,
    description: "The session of a program that the request belongs to, by which the cache shows " +
      "its conversations. Prompts that begin alike are found without it.",
  },
  session_id: { ...text, description: "Another name of prompt_cache_key." },
  cache_report: {
    ...flag,
    description:
      "Have the answer tell how much of its prompt was in the cache, and which position " +
      "cost it the rest.",
  },
} as const;

/** What an API says otherwise. */
export interface WishOptions {
  /** The defaults of options. Default: the engine's. */
  defaults?: OllamaOptions;
  /** Formats that it keeps in other members, by their names. */
  formats?: Record<string, ResponseFormat | undefined>;
}

/** The wishes, translated. */
export interface Wishes {
  /** Options of a chat or a generation. */
  engine: EngineOptions;
  /** Whether a chat thinks, and what else its template is told. */
  think: Pick<ChatRequest, "think" | "templateVariables">;
  /** How the model is loaded, and what of its answer is told. */
  around: Omit<Translation, "tasks">;
}

/**
 * Translates them.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function readWishes(
  body: SamplingBody & FormatBody & ThinkingBody & {
    cache_report?: Given<boolean>;
    prompt_cache_key?: Given<string>;
    session_id?: Given<string>;
    control_vectors?: Given<SteeringWish>;
    lora?: Given<LoraBody>;
  },
  info: ModelInfo,
  { defaults, formats }: WishOptions = {},
): Wishes {
  const { engine, loading } = readSampling(body, defaults);
  const asked = readFormat(body, formats);
  const { think, budget, variables, ...told } = readThinking(body, info);
  const lora = readLora(body.lora);
  const session = body.prompt_cache_key || body.session_id;
  return {
    engine: {
      ...engine,
      ...(asked && { format: asked.format }),
      ...budget,
      ...(body.cache_report && { cacheReport: true }),
      ...(lora && { lora }),
    },
    think: { ...(think !== undefined && { think }), ...variables },
    around: {
      ...loading,
      ...told,
      ...(asked && { formatMember: asked.param }),
      ...(session && { session }),
      ...(body.control_vectors && { controlVectors: body.control_vectors }),
    },
  };
}

/**
 * Refuses variables of the chat template for a prompt that goes to the model without one.
 *
 * @throws {HttpError} 400 if there are any
 */
export function refuseVariables({ templateVariables: variables }: Wishes["think"]): void {
  if (!variables) return;
  const member = "documents" in variables ? "documents" : "chat_template_kwargs";
  throw new HttpError(400, `${member}: this prompt is not laid out by a chat template`, member);
}
