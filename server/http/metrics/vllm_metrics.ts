// Metrics by the names of vLLM's, which schedulers, gateways and dashboards read: the Gateway API
// Inference Extension, llm-d, Ray Serve's and others' examples. Each has a label for the model.
// https://docs.vllm.ai/en/latest/usage/metrics.html

import type { ModelManager, Occupancy } from "../../../engine/mod.ts";
import type { Generation } from "../generation/generation.ts";
import {
  Counter,
  createGauge,
  Histogram,
  type Labels,
  type Metric,
  SECONDS,
} from "./exposition.ts";

/** Where a model stands. */
export interface ModelLoad {
  name: string;
  /** Sequences that run, and requests that wait for it. */
  running: number;
  waiting: number;
  /** The part of the KV cache that running sequences hold, from 0 to 1. */
  cacheUse: number;
  /** Those of running sequences, and of prompts that wait. */
  tokens: { running: number; waiting: number };
}

/** The load of each model that is loaded or loading. */
export function loadsOf(manager: Pick<ModelManager, "running">): ModelLoad[] {
  return manager.running().map(({ entry: { name }, model, users }) => {
    const { slots, blocks, tokens = { running: 0, waiting: 0 } } = model?.occupancy ?? {};
    const running = slots?.used ?? 0;
    const all = countBlocks(blocks);
    const cacheUse = all > 0 ? blocks!.used / all : 0;
    return { name, running, waiting: Math.max(0, users - running), cacheUse, tokens };
  });
}

/** How many blocks a KV cache has. */
function countBlocks(blocks: Occupancy["blocks"] | undefined): number {
  return blocks ? blocks.used + blocks.cached + blocks.free : 0;
}

/** Counts what models answer. */
export class VllmMetrics {
  readonly #counters = {
    promptTokens: counter("prompt_tokens_total", "Tokens of prompts, cached ones included."),
    completionTokens: counter("generation_tokens_total", "Tokens generated."),
    cacheQueries: counter("prefix_cache_queries_total", "Tokens looked for in the prefix cache."),
    cacheHits: counter("prefix_cache_hits_total", "Those of them that were there."),
    successes: counter("request_success_total", "Answers by the reason for which they ended."),
  };
  readonly #histograms = {
    firstToken: histogram("time_to_first_token_seconds", "From a request to its first token."),
    betweenTokens: histogram("inter_token_latency_seconds", "Mean time between two tokens."),
    whole: histogram("e2e_request_latency_seconds", "From a request to the end of its answer."),
    prefill: histogram("request_prefill_time_seconds", "Time in which the prompt was read."),
    decode: histogram("request_decode_time_seconds", "Time from the first token to the last."),
  };
  readonly #gauges: Metric[];

  constructor(manager: Pick<ModelManager, "running">) {
    const gauge = (name: string, help: string, read: (load: ModelLoad) => number) =>
      createGauge(
        `vllm:${name}`,
        help,
        () => loadsOf(manager).map((load) => [labelsOf(load.name), read(load)]),
      );
    this.#gauges = [
      gauge("num_requests_running", "Sequences that a model runs.", ({ running }) => running),
      gauge("num_requests_waiting", "Requests that wait for a model.", ({ waiting }) => waiting),
      gauge("kv_cache_usage_perc", "Part of the KV cache in use, 0 to 1.", (load) => load.cacheUse),
      createGauge(
        "vllm:cache_config_info",
        "Always 1; tells the tokens of a block of the KV cache, and how many blocks there are.",
        () => manager.running().flatMap(cacheConfigOf),
      ),
    ];
  }

  /** All of them. */
  get all(): Metric[] {
    return [
      ...this.#gauges,
      ...Object.values(this.#counters),
      ...Object.values(this.#histograms),
    ];
  }

  /**
   * Counts a generation that has ended with a usage.
   *
   * @param seconds from the request to the end of its answer
   * @param firstTokenSeconds until the first token; undefined if there was none
   * @param traceId of the request, if it is traced
   */
  count(
    { modelName, reason = "stop", usage }: Pick<Generation, "modelName" | "reason" | "usage">,
    seconds: number,
    firstTokenSeconds: number | undefined,
    traceId: string | undefined,
  ): void {
    if (!usage) return;
    const labels = labelsOf(modelName);
    const counters = this.#counters;
    counters.promptTokens.add(usage.promptTokens, labels);
    counters.completionTokens.add(usage.completionTokens, labels);
    counters.cacheQueries.add(usage.promptTokens, labels);
    counters.cacheHits.add(usage.cachedTokens, labels);
    counters.successes.add(1, { ...labels, finished_reason: reason });
    const histograms = this.#histograms;
    const completionSeconds = usage.completionMilliseconds / 1000;
    histograms.whole.observe(seconds, labels, traceId);
    histograms.prefill.observe(usage.promptMilliseconds / 1000, labels, traceId);
    histograms.decode.observe(completionSeconds, labels, traceId);
    if (firstTokenSeconds !== undefined) {
      histograms.firstToken.observe(firstTokenSeconds, labels, traceId);
    }
    if (usage.completionTokens > 1) {
      histograms.betweenTokens.observe(
        completionSeconds / (usage.completionTokens - 1),
        labels,
        traceId,
      );
    }
  }
}

/** Where the form of a model's KV cache is known, its series. */
function cacheConfigOf(
  { entry: { name }, model }: ReturnType<ModelManager["running"]>[number],
): [Labels, number][] {
  const { blocks, blockTokens } = model?.occupancy ?? {};
  if (blockTokens === undefined) return [];
  const labels = { block_size: `${blockTokens}`, num_gpu_blocks: `${countBlocks(blocks)}` };
  return [[{ ...labelsOf(name), ...labels }, 1]];
}

function labelsOf(model: string): Labels {
  return { model_name: model, engine: "0" };
}

function counter(name: string, help: string): Counter {
  return new Counter(`vllm:${name}`, help, true);
}

function histogram(name: string, help: string): Histogram {
  return new Histogram(`vllm:${name}`, help, SECONDS, true);
}
