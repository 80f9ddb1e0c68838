// Counts, times and rates of an answer, as `--verbose` prints them. Pure.

import { formatDuration } from "../terminal/mod.ts";
import type { OllamaMetrics } from "../client/mod.ts";

/** The table, from the members of a final record; times there are nanoseconds. */
export function formatStatistics(metrics: OllamaMetrics): string {
  const { total_duration, load_duration, prompt_eval_count, prompt_eval_duration } = metrics;
  const { prompt_cached_count = 0, eval_count, eval_duration } = metrics;
  const rows = [
    ["total duration", duration(total_duration)],
    ["load duration", duration(load_duration)],
    ["prompt eval count", count(prompt_eval_count)],
    ...(prompt_cached_count > 0 ? [["prompt cached", count(prompt_cached_count)] as const] : []),
    ["prompt eval duration", duration(prompt_eval_duration)],
    [
      "prompt eval rate",
      rate((prompt_eval_count ?? 0) - prompt_cached_count, prompt_eval_duration),
    ],
    ["eval count", count(eval_count)],
    ["eval duration", duration(eval_duration)],
    ["eval rate", rate(eval_count, eval_duration)],
  ];
  return rows.map(([name, value]) => `${`${name}:`.padEnd(22)}${value}\n`).join("");
}

function duration(nanoseconds = 0): string {
  return formatDuration(nanoseconds / 1e6);
}

function count(tokens = 0): string {
  return `${tokens} token(s)`;
}

function rate(tokens = 0, nanoseconds = 0): string {
  return nanoseconds > 0 ? `${(tokens * 1e9 / nanoseconds).toFixed(2)} tokens/s` : "-";
}
