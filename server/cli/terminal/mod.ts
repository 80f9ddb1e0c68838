// What the commands may use of the terminal.

export {
  formatBytes,
  formatDuration,
  formatRelative,
  formatTable,
  padEnd,
  truncate,
  widthOf,
} from "./format.ts";
export { showLoadProgress, showProgress } from "./live_lines.ts";
export { LiveLines, type Progress, type ProgressRecord } from "./live_lines.ts";
export { movesCursor, type Style, styleFor } from "./format.ts";
export { systemTerminal, type Terminal, type TerminalSize } from "./terminal.ts";
