// What `quern bench` may use of the benchmark.

export { benchmark, type BenchTools, LOADING } from "./benchmark.ts";
export { formatMarkdown, formatReport } from "./format.ts";
export {
  formatHardwareReport,
  type HardwareReport,
  makeReport,
  REPORT_VERSION,
} from "./hardware_report.ts";
export { readLlamaBench, runLlamaBench } from "./llama_bench.ts";
export {
  formatProfile,
  formatProfileMarkdown,
  type ProfileReport,
  profileToJson,
} from "./profile.ts";
export type { BenchReport, BenchRow, BenchSettings, Spread } from "./types.ts";
