// Counters, gauges and histograms as Prometheus reads them: its text format, version 0.0.4, or OpenMetrics
// 1.0, which has exemplars: the trace of a request that a bucket counts.
// https://prometheus.io/docs/instrumenting/exposition_formats. No globals. Ours, because `deno compile`
// overflows its stack on a file in prom-client's dependencies; the tests hold it against that package.

/** Bounds of histograms of durations, in seconds. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Label values by name. */
export type Labels = Record<string, string>;

/** A value that was seen, and the trace of the request in which it was. */
interface Exemplar {
  traceId: string;
  value: number;
  /** In seconds since 1970. */
  at: number;
}

/** A line: the suffix of the metric's name, the labels, the value. */
type Sample = [suffix: string, labels: Labels, value: number, exemplar?: Exemplar | undefined];

/** Something that is measured. */
export interface Metric {
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  samples(): Iterable<Sample>;
}

/** Content types of the texts. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";
export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** The metrics as text. @param isOpen whether it is OpenMetrics */
export function expose(metrics: Metric[], isOpen = false): string {
  const texts = metrics.map((metric) => {
    const { name, help, type } = metric;
    const family = isOpen && type === "counter" ? name.replace(/_total$/, "") : name;
    const lines = [`# HELP ${family} ${help}`, `# TYPE ${family} ${type}`];
    for (const [suffix, labels, value, exemplar] of metric.samples()) {
      const seen = isOpen && exemplar ? encodeExemplar(exemplar) : "";
      lines.push(`${name}${suffix}${encodeLabels(labels)} ${encodeNumber(value)}${seen}`);
    }
    return lines.join("\n") + "\n";
  });
  return isOpen ? `${texts.join("")}# EOF\n` : texts.join("\n");
}

/** A count that only grows, for each set of labels. */
export class Counter implements Metric {
  readonly type = "counter";
  readonly #values = new Map<string, { labels: Labels; value: number }>();

  /** @param isLabelled whether there is nothing to show before the first count */
  constructor(readonly name: string, readonly help: string, isLabelled = false) {
    if (!isLabelled) this.add(0);
  }

  add(amount: number, labels: Labels = {}): void {
    const key = encodeLabels(labels);
    const { value } = this.#values.get(key) ?? { value: 0 };
    this.#values.set(key, { labels, value: value + amount });
  }

  *samples(): Iterable<Sample> {
    for (const { labels, value } of this.#values.values()) yield ["", labels, value];
  }
}

/** The values of a set of labels: how many each bucket has, and the last of them that has a trace. */
interface Series {
  labels: Labels;
  counts: number[];
  exemplars: (Exemplar | undefined)[];
  sum: number;
}

/** A histogram: how many values were at most as large as each bound, for each set of labels. */
export class Histogram implements Metric {
  readonly type = "histogram";
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  /**
   * @param bounds upper bounds, rising
   * @param isLabelled whether there is nothing to show before the first value
   */
  constructor(
    readonly name: string,
    readonly help: string,
    bounds: readonly number[],
    isLabelled = false,
  ) {
    this.#bounds = [...bounds, Infinity];
    if (!isLabelled) this.#of({});
  }

  /** Counts a value. @param traceId of the request in which it was seen */
  observe(value: number, labels: Labels = {}, traceId?: string): void {
    const series = this.#of(labels);
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    series.counts[bucket]!++;
    series.sum += value;
    if (traceId) series.exemplars[bucket] = { traceId, value, at: Date.now() / 1000 };
  }

  *samples(): Iterable<Sample> {
    for (const { labels, counts, exemplars, sum } of this.#series.values()) {
      let count = 0;
      for (const [index, bound] of this.#bounds.entries()) {
        count += counts[index]!;
        yield ["_bucket", { le: encodeNumber(bound), ...labels }, count, exemplars[index]];
      }
      yield ["_sum", labels, sum];
      yield ["_count", labels, count];
    }
  }

  #of(labels: Labels): Series {
    const key = encodeLabels(labels);
    let series = this.#series.get(key);
    if (!series) {
      const counts = this.#bounds.map(() => 0);
      this.#series.set(key, series = { labels, counts, exemplars: [], sum: 0 });
    }
    return series;
  }
}

/** A value that goes up and down, and is read when it is asked for. */
export function createGauge(
  name: string,
  help: string,
  read: () => Iterable<[labels: Labels, value: number]>,
): Metric {
  return {
    name,
    help,
    type: "gauge",
    *samples() {
      for (const [labels, value] of read()) yield ["", labels, value];
    },
  };
}

/** Counts that are kept elsewhere and only grow, read when they are asked for. */
export function createCount(
  name: string,
  help: string,
  read: () => Iterable<[labels: Labels, value: number]>,
): Metric {
  return { ...createGauge(name, help, read), type: "counter" };
}

function encodeExemplar({ traceId, value, at }: Exemplar): string {
  return ` # ${encodeLabels({ trace_id: traceId })} ${encodeNumber(value)} ${at}`;
}

function encodeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function encodeNumber(value: number): string {
  return String(value).replace("Infinity", "Inf").replace(/^(?=Inf)/, "+");
}
