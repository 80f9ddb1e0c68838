// One generation, or several at the same time, with the times that the server reports and those
// that the client measures. The text is ignored.

import type { Api, OllamaRecord } from "../client/mod.ts";

/** The text to generate. */
export interface GenerationRequest {
  model: string;
  /** Continued as it stands, without a template. */
  prompt: string;
  /** Most tokens of the answer. */
  tokens: number;
  contextLength?: number | undefined;
  /** Name of the draft model. */
  draft?: string | undefined;
  /** Whether it drafts, and earlier text does. Default false: drafts would measure the text. */
  drafts?: boolean;
  signal: AbortSignal;
}

/** The measurements of a generation; times in milliseconds. */
export interface Sample {
  /** Those that were read: cached ones are not counted. */
  promptTokens: number;
  promptMilliseconds: number;
  tokens: number;
  /** From the first token to the last. */
  decodeMilliseconds: number;
  /** From the request to the first token, as the client sees it. */
  firstTokenMilliseconds: number;
  /** Tokens that were drafted, and those of them that came. */
  drafted: number;
  accepted: number;
  /** Time of the answer's end, from any origin. */
  end: number;
}

/** Runs one generation to its end. */
export async function generate(
  api: Api,
  { model, prompt, tokens, contextLength, draft, drafts = false, signal }: GenerationRequest,
): Promise<Sample> {
  const started = performance.now();
  let first: number | undefined;
  let last: Partial<OllamaRecord> = {};
  const request = {
    model,
    prompt,
    raw: true,
    options: {
      temperature: 0,
      num_predict: tokens,
      ignore_eos: true,
      ...(!drafts && { draft_num_predict: 0 }),
      ...(draft !== undefined && { draft }),
      ...(contextLength !== undefined && { num_ctx: contextLength }),
    },
  };
  for await (const record of api.stream("/api/generate", request, signal)) {
    // A record without text says that the request waits.
    const hasText = "response" in record && record.response !== "";
    if (hasText || record.done) first ??= performance.now();
    last = record;
  }
  const end = performance.now();
  const milliseconds = (nanoseconds = 0) => nanoseconds / 1e6;
  const firstTokenMilliseconds = (first ?? end) - started;
  return {
    promptTokens: (last.prompt_eval_count ?? 0) - (last.prompt_cached_count ?? 0),
    // A server that forwards requests may report no times.
    promptMilliseconds: milliseconds(last.prompt_eval_duration) || firstTokenMilliseconds,
    tokens: last.eval_count ?? 0,
    decodeMilliseconds: milliseconds(last.eval_duration) || end - (first ?? started),
    firstTokenMilliseconds,
    drafted: last.draft_n ?? 0,
    accepted: last.draft_accepted ?? 0,
    end,
  };
}

/** Tokens of the prompt per second. */
export function prefillRate({ promptTokens, promptMilliseconds }: Sample): number {
  return 1000 * promptTokens / promptMilliseconds;
}

/**
 * Tokens per second of all answers together, from the earliest first token to the latest last one.
 * The first token of each comes with its prompt and does not count.
 */
export function decodeRate(samples: readonly Sample[]): number {
  const tokens = samples.reduce((sum, { tokens }) => sum + tokens - 1, 0);
  const start = Math.min(...samples.map(startOf));
  const end = Math.max(...samples.map(({ end }) => end));
  return 1000 * tokens / (end - start);
}

/**
 * How many of the answers were being generated shortly before the first of them ended. The others
 * had to wait. A margin allows for the time that messages take.
 */
export function concurrencyOf(samples: readonly Sample[]): number {
  const [first] = [...samples].sort((a, b) => a.end - b.end);
  const time = first!.end - first!.decodeMilliseconds / 10;
  return samples.filter((sample) => startOf(sample) <= time).length;
}

function startOf({ end, decodeMilliseconds }: Sample): number {
  return end - decodeMilliseconds;
}
