// What the server counts and measures, for Prometheus (text exposition format 0.0.4). One registry
// per application, no globals. Gauges are read when they are asked for, not kept up to date.

import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ModelManager, Usage } from "../engine/mod.ts";
import type { WaitingQueue } from "./queue.ts";
import { decodeRate, prefillRate } from "./rates.ts";

/** Where the gauges look. */
export interface MetricsSources {
  manager: Pick<ModelManager, "running">;
  queue: Pick<WaitingQueue, "length">;
  version: string;
}

/** How a request ended. */
export interface RequestOutcome {
  method: string;
  /** Pattern of the route, so that the number of series stays bounded. */
  route: string;
  status: number;
  seconds: number;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const TOKENS_PER_SECOND = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/** The metrics of one application. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter(
    "quern_http_requests_total",
    "Requests by route and status.",
    ["method", "route", "status"],
  );
  readonly #durations = this.#histogram(
    "quern_http_request_duration_seconds",
    "Time from a request to the end of its answer.",
    SECONDS,
    ["route"],
  );
  readonly #promptTokens = this.#counter(
    "quern_prompt_tokens_total",
    "Tokens of prompts and of texts to embed, cached ones included.",
  );
  readonly #cachedTokens = this.#counter(
    "quern_cached_prompt_tokens_total",
    "Tokens of prompts whose keys and values were still there.",
  );
  readonly #completionTokens = this.#counter(
    "quern_completion_tokens_total",
    "Tokens generated.",
  );
  readonly #firstToken = this.#histogram(
    "quern_time_to_first_token_seconds",
    "Time from a request to its first token, waiting and loading included.",
    SECONDS,
  );
  readonly #prefillRate = this.#histogram(
    "quern_prefill_tokens_per_second",
    "New prompt tokens per second of a generation.",
    TOKENS_PER_SECOND,
  );
  readonly #decodeRate = this.#histogram(
    "quern_decode_tokens_per_second",
    "Tokens per second of a generation after its first one.",
    TOKENS_PER_SECOND,
  );

  constructor({ manager, queue, version }: MetricsSources) {
    this.#gauge("quern_queue_length", "Requests that wait for their first token.", [], (gauge) => {
      gauge.set(queue.length);
    });
    this.#gauge("quern_loaded_models", "Models in memory.", [], (gauge) => {
      gauge.set(manager.running().length);
    });
    this.#gauge(
      "quern_gpu_memory_bytes",
      "GPU memory that a loaded model holds.",
      ["model", "kind"],
      (gauge) => {
        gauge.reset();
        for (const { entry, model } of manager.running()) {
          const { weights, keyValueCache, scratch } = model.memory;
          const kinds = { weights, kv_cache: keyValueCache, scratch };
          for (const [kind, bytes] of Object.entries(kinds)) {
            gauge.set({ model: entry.name, kind }, bytes);
          }
        }
      },
    );
    this.#gauge("quern_info", "Always 1; tells the version.", ["version"], (gauge) => {
      gauge.set({ version }, 1);
    });
  }

  /** Content type of the text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics as Prometheus reads them. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Counts a request whose answer is complete. */
  countRequest({ method, route, status, seconds }: RequestOutcome): void {
    this.#requests.inc({ method, route, status: String(status) });
    this.#durations.observe({ route }, seconds);
  }

  /** Counts tokens that were read where nothing is generated. */
  countPrompt(tokens: number): void {
    this.#promptTokens.inc(tokens);
  }

  /**
   * Counts a generation that came to its end.
   *
   * @param firstTokenSeconds from the request to the first token; undefined if there was none
   */
  countGeneration(usage: Usage, firstTokenSeconds: number | undefined): void {
    this.#promptTokens.inc(usage.promptTokens);
    this.#cachedTokens.inc(usage.cachedTokens);
    this.#completionTokens.inc(usage.completionTokens);
    const observe = (histogram: Histogram, value: number | undefined) => {
      if (value !== undefined) histogram.observe(value);
    };
    observe(this.#firstToken, firstTokenSeconds);
    observe(this.#prefillRate, prefillRate(usage));
    observe(this.#decodeRate, decodeRate(usage));
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string, buckets: number[], labelNames: string[] = []): Histogram {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, labelNames: string[], read: (gauge: Gauge) => void): void {
    const registers = [this.#registry];
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: () => read(gauge),
    });
  }
}
