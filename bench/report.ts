// Printing of benchmarks, and statistics of what they measured.

import { loadavg } from "node:os";

/** Prints a line at once, also where the output is a file. */
export function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));
}

/** The median, the upper one of two; NaN if there are no values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

/** A part as a fraction of the whole. */
export function percent(part: number, whole: number): string {
  return `${(100 * part / whole).toFixed(1)} %`;
}

/** The mean number of threads that wanted to run in the last minute, other programs' included. */
export function load(): string {
  return loadavg()[0]!.toFixed(1);
}
