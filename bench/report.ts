// What benchmarks print with, and how they sum up what they measured.

import { loadavg } from "node:os";

/** Prints a line at once, also where the output is a file. */
export function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));
}

/** The middle value, the upper of two; NaN of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

/** A part as a share of the whole. */
export function percent(part: number, whole: number): string {
  return `${(100 * part / whole).toFixed(1)} %`;
}

/** How many threads of other programs want the processors, on average over a minute. */
export function load(): string {
  return loadavg()[0]!.toFixed(1);
}
