// `options` and `keep_alive` of a request -> the engine's options, and how the model is loaded. The
// schema has checked the types; the engine checks the ranges.

import {
  type BodyOf,
  closed,
  flag,
  integer,
  number,
  optional,
  text,
  texts,
} from "../body/schema.ts";
import type {
  AskedLoad,
  FormatOptions,
  LimitOptions,
  ProgressEvent,
  ReportOptions,
  SamplingOptions,
} from "../../../engine/mod.ts";
import { parseDuration } from "../../settings/quantities.ts";
import type { promptProgress } from "./openapi/answer_parts.ts";
import { HttpError } from "../errors.ts";
import { unreadInOptions } from "./unread_members.ts";

const OPEN_OBJECTS =
  "Let objects have keys, and values types, of which their schema says nothing, as JSON Schema has " +
  "it. Default false: only keys that it declares or allows, and objects where it declares some.";

/** `options`, which the other APIs take too. */
export const options = optional(
  closed({
    temperature: number,
    top_k: integer,
    top_p: number,
    min_p: number,
    seed: integer,
    num_predict: integer,
    draft: {
      ...text,
      description:
        "Name of a draft model: a smaller model with the same vocabulary, which guesses " +
        "the next tokens; empty: none. A model loaded with another one is loaded again.",
    },
    draft_num_predict: integer,
    think_budget: {
      ...integer,
      description: "Most tokens of thinking: then its end is put in, and the answer follows.",
    },
    num_ctx: integer,
    num_gpu: {
      ...integer,
      description: "Layers on the GPU, the head counted as one; below 0, as many as fit.",
    },
    num_batch: {
      ...integer,
      description: "Most tokens of a prompt that are read in a step; 0 and below: the device's.",
    },
    repeat_penalty: number,
    repeat_last_n: integer,
    presence_penalty: number,
    frequency_penalty: number,
    stop: texts,
    ignore_eos: { ...flag, description: "Go on where the model ends, up to num_predict." },
    open_objects: { ...flag, description: OPEN_OBJECTS },
    ...unreadInOptions,
  }),
);

/** `open_objects`, which may also stand beside a format, in every API. */
export const openObjects = { ...flag, description: OPEN_OBJECTS } as const;

/** `return_progress` of streams, as llama-server has it. */
export const returnProgress = {
  ...flag,
  description: "Have a stream tell how much of the prompt is read, as `prompt_progress`.",
} as const;

/** The member of a record that tells of an event of progress. */
export function toProgress(
  event: ProgressEvent,
): { prompt_progress: BodyOf<typeof promptProgress> } {
  return {
    prompt_progress: {
      total: event.promptTokens,
      cache: event.cachedTokens,
      processed: event.processedTokens,
      time_ms: Math.round(event.milliseconds),
    },
  };
}

/** Sampling and loading parameters. */
export type OllamaOptions = NonNullable<BodyOf<typeof options>>;

/** The options that the engine takes, under its names. */
export type EngineOptions = SamplingOptions & LimitOptions & FormatOptions & ReportOptions;

/** Engine's name of each option that is passed on as it is. */
const ENGINE_NAMES: Record<string, keyof EngineOptions> = {
  temperature: "temperature",
  top_k: "topK",
  top_p: "topP",
  min_p: "minP",
  seed: "seed",
  num_predict: "maxTokens",
  draft_num_predict: "draftTokens",
  think_budget: "thinkBudget",
  repeat_penalty: "repeatPenalty",
  repeat_last_n: "repeatLastN",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  stop: "stop",
  ignore_eos: "ignoreEnd",
  open_objects: "openObjects",
} as const;

/** The smallest window that Ollama loads a model with. */
const SMALLEST_WINDOW = 4;

/** How a request wants its model. */
export interface Loading extends AskedLoad {
  /** How long the model stays loaded afterwards, in milliseconds; Infinity is for ever. */
  keepAlive?: number;
}

/** Options of the load of a model. */
export const LOAD_NAMES: readonly string[] = ["num_ctx", "num_gpu", "num_batch", "draft"];

/** Whether an option of that name changes anything here. */
export function hasEffect(name: string): boolean {
  return LOAD_NAMES.includes(name) || Object.hasOwn(ENGINE_NAMES, name);
}

/**
 * Translates `options` and `keep_alive`. -1 is "random" for seed and "no limit" for num_predict: both
 * are the default. `num_ctx`, `num_gpu` and `num_batch` are the load's and the request's: models elsewhere
 * have no other.
 *
 * @throws {HttpError} 400 if `keep_alive` is no duration
 */
export function readOptions(
  options: OllamaOptions | null | undefined,
  keepAlive?: string | number | null,
): { engine: EngineOptions; loading: Loading } {
  const { num_ctx: window, num_gpu: gpuLayers, num_batch: batch, draft, ...others } = options ?? {};
  const engine: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(others)) {
    const engineName = ENGINE_NAMES[name];
    if (engineName && value !== null && value !== undefined) engine[engineName] = value;
  }
  if (engine.seed === -1) delete engine.seed;
  if (Number(engine.maxTokens) < 0) delete engine.maxTokens;
  if (Number(engine.topK) < 0) engine.topK = 0;
  const stay = readKeepAlive(keepAlive);
  const asked: AskedLoad = {
    ...(window && window > 0 && { contextLength: Math.max(window, SMALLEST_WINDOW) }),
    ...(typeof gpuLayers === "number" && gpuLayers >= 0 && { gpuLayers }),
    ...(batch && batch > 0 && { prefillChunk: batch }),
  };
  return {
    engine: { ...engine, ...asked },
    loading: {
      ...asked,
      ...(typeof draft === "string" && { draft }),
      ...(stay !== undefined && { keepAlive: stay }),
    },
  };
}

/** Milliseconds that `keep_alive` asks for, Infinity for ever; undefined if it is not given. */
function readKeepAlive(value: string | number | null | undefined): number | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  try {
    return parseDuration(value);
  } catch (error) {
    throw new HttpError(400, `keep_alive: ${(error as Error).message}`);
  }
}

/** A time in the unit of the native API. */
export function nanoseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e6);
}
