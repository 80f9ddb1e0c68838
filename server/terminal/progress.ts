// Progress of a load on one line of standard error that overwrites itself and then goes away.

import type { LoadProgress } from "../../engine/mod.ts";
import { formatBytes } from "./format.ts";
import type { Terminal } from "./terminal.ts";

const CLEAR_LINE = "\r\x1b[K";

/** A callback that shows how much of the weights is on the GPU. */
export function showLoadProgress(terminal: Terminal): (progress: LoadProgress) => void {
  let shown = -1;
  return ({ loaded, total }) => {
    const percent = total > 0 ? Math.floor(100 * loaded / total) : 100;
    if (percent === shown) return;
    shown = percent;
    const text = `loading ${percent}% of ${formatBytes(total)}`;
    terminal.writeError(percent < 100 ? CLEAR_LINE + text : CLEAR_LINE);
  };
}
