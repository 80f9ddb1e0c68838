// What the server counts and measures, for Prometheus, and its last requests. Each application has
// its own metrics. Gauges are read when somebody asks for them.

import type { ModelManager, Occupancy, Usage } from "../../../engine/mod.ts";
import { bounded } from "../../bounded.ts";
import type { KeyRing } from "../../keys/mod.ts";
import type { WaitingQueue } from "../generation/queue.ts";
import { VllmMetrics } from "./vllm_metrics.ts";
import {
  Counter,
  createCount,
  createGauge,
  expose,
  Histogram,
  type Metric,
  SECONDS,
} from "./exposition.ts";

/** The sources of the gauges. */
export interface MetricsSources {
  manager: Pick<ModelManager, "running" | "busyWorkers">;
  queue: Pick<WaitingQueue, "length">;
  /** Of the system's memory for what leaves KV caches. */
  blocks?: {
    readonly memory: { bytes: number; limit: number };
    readonly onDisk?: { bytes: number; limit: number } | undefined;
  };
  /** How many lines of the log could not be written. */
  lostLogLines?: () => number;
  /** Of the keys by which clients ask. */
  keys?: Pick<KeyRing, "accounts"> | undefined;
  version: string;
}

/** How a request ended. */
export interface RequestOutcome {
  method: string;
  /** Pattern of the route, so that the number of series stays bounded. */
  route: string;
  status: number;
  seconds: number;
  /** If it is traced. */
  traceId: string | undefined;
}

const TOKENS_PER_SECOND = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/** The metrics of one application. */
export class Metrics {
  readonly #requests = new Counter(
    "quern_http_requests_total",
    "Requests by route and status.",
    true,
  );
  readonly #durations = new Histogram(
    "quern_http_request_duration_seconds",
    "Time from a request to the end of its answer.",
    SECONDS,
  );
  readonly #promptTokens = new Counter(
    "quern_prompt_tokens_total",
    "Tokens of prompts and of texts to embed, cached ones included.",
  );
  readonly #cachedTokens = new Counter(
    "quern_cached_prompt_tokens_total",
    "Tokens of prompts whose keys and values were still there.",
  );
  readonly #restoredTokens = new Counter(
    "quern_restored_prompt_tokens_total",
    "Those of the cached ones that had left the KV cache and came back, by where they were.",
    true,
  );
  readonly #completionTokens = new Counter(
    "quern_completion_tokens_total",
    "Tokens generated.",
  );
  readonly #draftedTokens = new Counter(
    "quern_drafted_tokens_total",
    "Tokens that were drafted and checked several at a time.",
  );
  readonly #acceptedTokens = new Counter(
    "quern_accepted_draft_tokens_total",
    "Drafted tokens that came.",
  );
  readonly #firstToken = new Histogram(
    "quern_time_to_first_token_seconds",
    "Time from a request to its first token, waiting and loading included.",
    SECONDS,
  );
  readonly #prefillRate = new Histogram(
    "quern_prefill_tokens_per_second",
    "New prompt tokens per second of a generation.",
    TOKENS_PER_SECOND,
  );
  readonly #decodeRate = new Histogram(
    "quern_decode_tokens_per_second",
    "Tokens per second of a generation after its first one.",
    TOKENS_PER_SECOND,
  );
  readonly #gauges: Metric[];
  /** What schedulers and dashboards that know vLLM look for. */
  readonly vllm: VllmMetrics;
  /** The last requests to models. */
  readonly recent = new RecentRequests();

  constructor(sources: MetricsSources) {
    this.#gauges = gaugesOf(sources);
    this.vllm = new VllmMetrics(sources.manager);
  }

  /** All metrics in Prometheus's text format, or in OpenMetrics. */
  text(isOpen = false): string {
    const all = [
      this.#requests,
      this.#durations,
      this.#promptTokens,
      this.#cachedTokens,
      this.#restoredTokens,
      this.#completionTokens,
      this.#draftedTokens,
      this.#acceptedTokens,
      this.#firstToken,
      this.#prefillRate,
      this.#decodeRate,
      ...this.#gauges,
      ...this.vllm.all,
    ];
    return expose(all, isOpen);
  }

  /** Counts a request whose answer is complete. */
  countRequest({ method, route, status, seconds, traceId }: RequestOutcome): void {
    this.#requests.add(1, { method, route, status: String(status) });
    this.#durations.observe(seconds, {}, traceId);
  }

  /** Counts the tokens of requests that generate nothing. */
  countPrompt(tokens: number): void {
    this.#promptTokens.add(tokens);
  }

  /**
   * Counts a generation that has ended.
   *
   * @param firstTokenSeconds from the request to the first token; undefined if there was none
   * @param traceId of the request, if it is traced
   */
  countGeneration(
    usage: Usage,
    firstTokenSeconds: number | undefined,
    traceId: string | undefined,
  ): void {
    this.#promptTokens.add(usage.promptTokens);
    this.#cachedTokens.add(usage.cachedTokens);
    this.#restoredTokens.add(usage.fromMemoryTokens ?? 0, { from: "memory" });
    this.#restoredTokens.add(usage.fromDiskTokens ?? 0, { from: "disk" });
    this.#completionTokens.add(usage.completionTokens);
    this.#draftedTokens.add(usage.draftedTokens ?? 0);
    this.#acceptedTokens.add(usage.acceptedTokens ?? 0);
    const observe = (histogram: Histogram, value: number | undefined) => {
      if (value !== undefined) histogram.observe(value, {}, traceId);
    };
    observe(this.#firstToken, firstTokenSeconds);
    observe(this.#prefillRate, prefillRate(usage));
    observe(this.#decodeRate, decodeRate(usage));
  }
}

function gaugesOf(sources: MetricsSources): Metric[] {
  const { manager, queue, blocks, lostLogLines, version } = sources;
  return [
    ...keyCounts(sources),
    createGauge(
      "quern_queue_length",
      "Requests that wait for their first token.",
      () => [[{}, queue.length]],
    ),
    createGauge("quern_loaded_models", "Models in memory.", () => [[{}, manager.running().length]]),
    createGauge(
      "quern_busy_workers",
      "Workers of models that do not answer, because they are in the midst of work without a pause.",
      () => [[{}, manager.busyWorkers.current.length]],
    ),
    createGauge(
      "quern_busy_workers_seen",
      "How many such workers there have been.",
      () => [[{}, manager.busyWorkers.total]],
    ),
    createGauge(
      "quern_gpu_memory_bytes",
      "GPU memory that a loaded model holds.",
      () =>
        manager.running().flatMap(({ entry: { name }, memory }) => [
          [{ model: name, kind: "weights" }, memory.weights],
          [{ model: name, kind: "kv_cache" }, memory.keyValueCache],
          [{ model: name, kind: "scratch" }, memory.scratch],
        ]),
    ),
    createGauge(
      "quern_slots",
      "Sequences that a loaded model can run at the same time: those that it runs, and free slots.",
      () => occupancyOf(manager, "slots"),
    ),
    createGauge(
      "quern_kv_blocks",
      "Blocks of a loaded model's KV cache: of running sequences, kept for later prompts, and free.",
      () => occupancyOf(manager, "blocks"),
    ),
    createGauge(
      "quern_tokens",
      "Tokens of a loaded model's running sequences, and of prompts that wait.",
      () => occupancyOf(manager, "tokens"),
    ),
    createGauge(
      "quern_cache_memory_bytes",
      "Memory of the system that holds what left KV caches, and the most that it may be.",
      () => [
        [{ kind: "used" }, blocks?.memory.bytes ?? 0],
        [{ kind: "limit" }, blocks?.memory.limit ?? 0],
      ],
    ),
    createGauge(
      "quern_cache_disk_bytes",
      "Files on disk that hold what left KV caches, and the most that they may be.",
      () => [
        [{ kind: "used" }, blocks?.onDisk?.bytes ?? 0],
        [{ kind: "limit" }, blocks?.onDisk?.limit ?? 0],
      ],
    ),
    createCount(
      "quern_log_lines_lost_total",
      "Lines of the log that could not be written: its disk was full, or nobody read it.",
      () => [[{}, lostLogLines?.() ?? 0]],
    ),
    createGauge("quern_info", "Always 1; tells the version.", () => [[{ version }, 1]]),
  ];
}

/** What each key has used. */
function keyCounts({ keys }: MetricsSources): Metric[] {
  if (!keys) return [];
  const accounts = () => keys.accounts.map(({ entry: { name: key }, usage }) => ({ key, usage }));
  return [
    createCount(
      "quern_key_requests_total",
      "Requests by API key.",
      () =>
        accounts().flatMap(({ key, usage: { requests, refused } }) => [
          [{ key, outcome: "admitted" }, requests],
          [{ key, outcome: "refused" }, refused],
        ]),
    ),
    createCount(
      "quern_key_tokens_total",
      "Tokens by API key; prompts with cached tokens.",
      () =>
        accounts().flatMap(({ key, usage: { promptTokens, cachedTokens, completionTokens } }) => [
          [{ key, kind: "prompt" }, promptTokens],
          [{ key, kind: "cached" }, cachedTokens],
          [{ key, kind: "completion" }, completionTokens],
        ]),
    ),
  ];
}

/** The use of loaded models, a series for each state. */
function* occupancyOf(
  manager: MetricsSources["manager"],
  kind: Exclude<keyof Occupancy, "blockTokens">,
): Generator<[Record<string, string>, number]> {
  for (const { entry: { name }, model } of manager.running()) {
    for (const [state, count] of Object.entries(model?.occupancy?.[kind] ?? {})) {
      yield [{ model: name, state }, count];
    }
  }
}

/** New prompt tokens per second; undefined if there were none, or no time passed. */
export function prefillRate(usage: Usage): number | undefined {
  return rate(usage.promptTokens - usage.cachedTokens, usage.promptMilliseconds);
}

/** Tokens per second after the first one, which comes with the prompt. */
export function decodeRate(usage: Usage): number | undefined {
  return rate(usage.completionTokens - 1, usage.completionMilliseconds);
}

function rate(tokens: number, milliseconds: number): number | undefined {
  return tokens > 0 && milliseconds > 0 ? tokens * 1000 / milliseconds : undefined;
}

/** Requests that are remembered. */
const MOST_KEPT = 100;
/** Most characters of the name of a model that are remembered: it may be a path. */
const MAX_NAME = 512;

/** A request whose answer is complete. */
export interface RecentRequest {
  /** Time at which it came. */
  at: Date;
  method: string;
  path: string;
  status: number;
  model?: string;
  seconds: number;
  /** Until the first token. */
  firstTokenSeconds?: number;
  usage?: Usage;
}

/** The last requests. */
class RecentRequests {
  #requests: RecentRequest[] = [];

  /** The newest first. */
  get all(): readonly RecentRequest[] {
    return this.#requests;
  }

  /** Remembers a request; those that concern no model are left out. */
  add(request: RecentRequest): void {
    if (request.model === undefined) return;
    const kept = { ...request, model: bounded(request.model, MAX_NAME) };
    this.#requests = [kept, ...this.#requests].slice(0, MOST_KEPT);
  }
}
