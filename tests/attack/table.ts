// The results of the areas, as a table.

import { FAULT_KINDS, type FaultKind } from "./trial.ts";

/** The result of an area. */
export interface AreaResult {
  name: string;
  /** Checks that were made. */
  cases: number;
  /** Of them, those without a fault. */
  passed: number;
  faults: Record<FaultKind, number>;
  /** Cases that there was no time for, or that this machine cannot run. */
  skipped: number;
  seconds: number;
}

/** An empty result. */
export function emptyResult(name: string): AreaResult {
  const faults = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0]));
  const counts = { cases: 0, passed: 0, skipped: 0, seconds: 0 };
  return { name, ...counts, faults: faults as Record<FaultKind, number> };
}

/** Writes a line. */
export function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** The faults that are counted in the end. */
export function totalOf(results: readonly AreaResult[]): { passed: number; failed: number } {
  const cases = results.reduce((sum, result) => sum + result.cases, 0);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  return { passed, failed: cases - passed };
}

/** Writes all results. */
export function printTable(results: readonly AreaResult[]): void {
  const kinds = FAULT_KINDS;
  const head = ["area", "cases", "passed", ...kinds, "not run", "seconds"];
  const lines = results.map(({ name, cases, passed, faults, skipped, seconds }) => [
    ...[name, cases, passed, ...kinds.map((kind) => faults[kind]), skipped, seconds.toFixed(0)]
      .map(String),
  ]);
  const sums = head.map((_, column) =>
    column === 0 ? "all" : String(lines.reduce((sum, line) => sum + Number(line[column]), 0))
  );
  const rows = [head, ...lines, sums];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows) {
    say(
      row.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)
      ).join("  "),
    );
  }
}
