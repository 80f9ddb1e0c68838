// /metrics as numbers. Pure. Format: https://prometheus.io/docs/instrumenting/exposition_formats

/** A series by its name with its labels. */
export type Metrics = ReadonlyMap<string, number>;

/** The series of a text. */
export function readMetrics(source: string): Metrics {
  const metrics = new Map<string, number>();
  for (const line of source.split("\n")) {
    const match = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line);
    if (match) metrics.set(match[1]!, Number(match[2]));
  }
  return metrics;
}

/** The sum of all series of a name; with `label`, such as `state="used"`, of those that have it. */
export function sumOf(metrics: Metrics, name: string, label = ""): number {
  let sum = 0;
  for (const [key, value] of metrics) {
    if (key === name || key.startsWith(`${name}{`) && key.includes(label)) sum += value;
  }
  return sum;
}
