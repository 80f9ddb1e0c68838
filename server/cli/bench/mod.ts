// What `quern bench` may use of the benchmark.

export { benchmark, type BenchTools, LOADING } from "./benchmark.ts";
export { formatMarkdown, formatReport } from "./types.ts";
export {
  formatHardwareReport,
  type HardwareReport,
  makeReport,
  readLlamaBench,
  REPORT_VERSION,
  runLlamaBench,
} from "./hardware_report.ts";
export {
  formatProfile,
  formatProfileMarkdown,
  type ProfileReport,
  profileToJson,
} from "./profile.ts";
export type { BenchReport, BenchRow, BenchSettings, Spread } from "./types.ts";
