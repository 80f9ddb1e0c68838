// One line of progress for a window of a given width. Where it is narrow, rate and remaining time go
// first, then the bar, then the sizes, and at last the end of the label. Pure.

import { formatBytes, formatRemaining } from "./format.ts";
import { padEnd, truncate, widthOf } from "./width.ts";

/** How far something is; counts in bytes. */
export interface BarState {
  label: string;
  completed: number;
  total: number;
  /** Bytes per second, if it is known. */
  rate?: number | undefined;
}

const SHORTEST_BAR = 8;
/** Columns of "999 MB/999 MB", "999 MB/s" and "59m59s", so that the lines of layers stand in step. */
const COLUMNS = { sizes: 13, rate: 8, remaining: 6 };

/** A line such as `pulling 7cd4618c1faf:  43% ▕████      ▏ 351 MB/815 MB  12 MB/s  38s`. */
export function formatBar(state: BarState, columns: number): string {
  const { label, total } = state;
  const completed = Math.min(state.completed, total);
  const share = total > 0 ? completed / total : 1;
  const percent = `${Math.floor(100 * share)}%`;
  const head = `${label}: ${percent.padStart(4)}`;
  const sizes = share === 1
    ? formatBytes(total)
    : `${formatBytes(completed)}/${formatBytes(total)}`;
  const paddedSizes = padEnd(sizes, COLUMNS.sizes);
  for (const tail of [`${paddedSizes}  ${speedOf(state)}`, paddedSizes]) {
    const length = columns - widthOf(`${head} ▕▏ ${tail}`);
    if (length < SHORTEST_BAR) continue;
    const filled = Math.floor(share * length);
    return `${head} ▕${"█".repeat(filled)}${" ".repeat(length - filled)}▏ ${tail}`.trimEnd();
  }
  const withoutBar = `${head} ${sizes}`;
  if (widthOf(withoutBar) <= columns) return withoutBar;
  return `${truncate(label, columns - widthOf(": 100%"))}: ${percent.padStart(4)}`;
}

/** Rate and remaining time, in columns of their own also while they are not known. */
function speedOf({ completed, total, rate }: BarState): string {
  const isRunning = rate !== undefined && completed < total;
  const text = isRunning ? `${formatBytes(Math.round(rate))}/s` : "";
  const remaining = isRunning && rate > 0 ? formatRemaining((total - completed) / rate) : "";
  return `${padEnd(text, COLUMNS.rate)}  ${padEnd(remaining, COLUMNS.remaining)}`;
}
