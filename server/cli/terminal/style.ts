// The few styles of text that the commands use, as SGR sequences of ECMA-48, and when they are left
// out: NO_COLOR (no-color.org), TERM=dumb, or output that is no terminal.

import type { Environment } from "../../settings/environment.ts";

/** Dresses text; the plain style gives it back as it is. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
}

const plainStyle: Style = { bold: (text) => text, dim: (text) => text };

const terminalStyle: Style = {
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  dim: (text) => `\x1b[2m${text}\x1b[22m`,
};

/** @param isTerminal whether the text goes to one */
export function styleFor(isTerminal: boolean, environment: Environment): Style {
  // Any text but the empty one turns colours off, as no-color.org has it.
  return movesCursor(isTerminal, environment) && !environment.NO_COLOR ? terminalStyle : plainStyle;
}

/** Whether what is written there may contain control sequences at all. */
export function movesCursor(isTerminal: boolean, environment: Environment): boolean {
  return isTerminal && environment.TERM !== "dumb";
}
