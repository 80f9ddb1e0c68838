// The progress of long work, on standard error: on a terminal, lines that are redrawn; elsewhere plain
// lines, one for each state and one for each tenth of a count.

import type { LoadProgress } from "../../../engine/mod.ts";
import type { Environment } from "../../settings/environment.ts";
import { formatBytes } from "./format.ts";
import { LiveLines, type Progress, type ProgressRecord } from "./live_lines.ts";
import { movesCursor } from "./style.ts";
import type { Terminal } from "./terminal.ts";

/** Shows the progress of a command as the terminal allows. */
export function showProgress(terminal: Terminal, environment: Environment): Progress {
  return movesCursor(terminal.stderrIsTerminal, environment)
    ? new LiveLines(terminal)
    : new PlainLines(terminal);
}

/** The result of {@linkcode showLoadProgress}: the callback for a load. */
export interface LoadDisplay extends Disposable {
  update(progress: LoadProgress): void;
}

/**
 * Shows how much of the weights is loaded, on a line that disappears at the end. Where standard
 * error is no terminal, nothing is shown, because scripts want only the answer.
 */
export function showLoadProgress(terminal: Terminal, environment: Environment): LoadDisplay {
  if (!movesCursor(terminal.stderrIsTerminal, environment)) {
    return { update: () => {}, [Symbol.dispose]: () => {} };
  }
  const lines = new LiveLines(terminal, { transient: true });
  return {
    update: ({ loaded, total }) => lines.update({ status: "loading", completed: loaded, total }),
    [Symbol.dispose]: () => lines[Symbol.dispose](),
  };
}

/** Progress as a log shows it. */
class PlainLines implements Progress {
  readonly #terminal: Terminal;
  /** The last tenth told of each status; of one without a count, -1. */
  readonly #told = new Map<string, number>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  update({ status, total, completed = 0 }: ProgressRecord): void {
    const share = total === undefined ? undefined : total > 0 ? completed / total : 1;
    const tenth = share === undefined ? -1 : Math.floor(10 * share);
    if (tenth <= (this.#told.get(status) ?? -2)) return;
    this.#told.set(status, tenth);
    const count = share === undefined
      ? ""
      : `: ${Math.floor(100 * share)}% of ${formatBytes(total!)}`;
    this.#terminal.writeError(`${status}${count}\n`);
  }

  [Symbol.dispose](): void {}
}
