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
import {
  type AskedLoad,
  type FormatOptions,
  type LimitOptions,
  LOAD_OPTIONS,
  optionHelp,
  type OptionInfo,
  OPTIONS,
  type ProgressEvent,
  type ReportOptions,
  type SamplingOptions,
} from "../../../engine/mod.ts";
import { parseDuration } from "../../settings/quantities.ts";
import type { promptProgress } from "./openapi/answer_parts.ts";
import { HttpError } from "../errors.ts";
import { unreadInOptions } from "./unread_members.ts";

/** The schemas of options by their types. */
const TYPES = { number, integer, boolean: flag, text, texts } as const;

type Options = typeof OPTIONS;

/** The members of the options in the engine's table. */
type OptionMembers = {
  readonly [Name in keyof Options as Options[Name]["name"]]: (typeof TYPES)[Options[Name]["type"]];
};

const tableMembers = Object.fromEntries(
  Object.values<OptionInfo>(OPTIONS).map((option) => [
    option.name,
    { ...TYPES[option.type], description: optionHelp(option) },
  ]),
) as object as OptionMembers;

/** `options`, which the other APIs take too. */
export const options = optional(
  closed({
    ...unreadInOptions,
    ...tableMembers,
    draft: {
      ...text,
      description:
        "Name of a draft model: a smaller model with the same vocabulary, which guesses " +
        "the next tokens; empty: none. A model loaded with another one is loaded again.",
    },
  }),
);

/** `open_objects`, which may also stand beside a format, in every API. */
export const openObjects = tableMembers.open_objects;

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

/** The options that are passed on as they are: each name with the engine's. */
const ENGINE_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(OPTIONS)
    .filter(([name]) => !Object.hasOwn(LOAD_OPTIONS, name))
    .map(([engineName, { name }]) => [name, engineName]),
);

/** The smallest window that Ollama loads a model with. */
const SMALLEST_WINDOW = 4;

/** How a request wants its model. */
export interface Loading extends AskedLoad {
  /** How long the model stays loaded afterwards, in milliseconds; Infinity is for ever. */
  keepAlive?: number;
}

/** Options of the load of a model. */
export const LOAD_NAMES: readonly string[] = [
  ...Object.values(LOAD_OPTIONS).map(({ name }) => name),
  "draft",
];

/** Whether an option of that name changes anything here. */
export function hasEffect(name: string): boolean {
  return LOAD_NAMES.includes(name) || ENGINE_NAMES.has(name);
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
    const engineName = ENGINE_NAMES.get(name);
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
