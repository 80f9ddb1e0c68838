// Counters, gauges and histograms as Prometheus reads them: its text format, version 0.0.4.
// https://prometheus.io/docs/instrumenting/exposition_formats. No globals. Ours, because `deno compile`
// overflows its stack on a file in prom-client's dependencies; the tests hold it against that package.

/** Bounds of histograms of durations, in seconds. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Label values by name. */
export type Labels = Record<string, string>;

/** A line: the suffix of the metric's name, the labels, the value. */
type Sample = [suffix: string, labels: Labels, value: number];

/** Something that is measured. */
export interface Metric {
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  samples(): Iterable<Sample>;
}

/** Content type of the text. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics as text. */
export function expose(metrics: Metric[]): string {
  return metrics.map((metric) => {
    const { name, help, type } = metric;
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
    for (const [suffix, labels, value] of metric.samples()) {
      lines.push(`${name}${suffix}${encodeLabels(labels)} ${encodeNumber(value)}`);
    }
    return lines.join("\n") + "\n";
  }).join("\n");
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

/** A histogram: how many values were at most as large as each bound, for each set of labels. */
export class Histogram implements Metric {
  readonly type = "histogram";
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { labels: Labels; counts: number[]; sum: number }>();

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

  /** Counts a value. */
  observe(value: number, labels: Labels = {}): void {
    const series = this.#of(labels);
    series.counts[this.#bounds.findIndex((bound) => value <= bound)]!++;
    series.sum += value;
  }

  *samples(): Iterable<Sample> {
    for (const { labels, counts, sum } of this.#series.values()) {
      let count = 0;
      for (const [index, bound] of this.#bounds.entries()) {
        count += counts[index]!;
        yield ["_bucket", { le: encodeNumber(bound), ...labels }, count];
      }
      yield ["_sum", labels, sum];
      yield ["_count", labels, count];
    }
  }

  #of(labels: Labels): { counts: number[]; sum: number } {
    return this.#series.getOrInsertComputed(encodeLabels(labels), () => ({
      labels,
      counts: this.#bounds.map(() => 0),
      sum: 0,
    }));
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
