// What `quern bench` may use of the benchmark.

export { benchmark, type BenchTools, LOADING } from "./benchmark.ts";
export { formatMarkdown, formatReport } from "./format.ts";
export type { BenchPlan, BenchReport, BenchRow, Spread } from "./types.ts";
