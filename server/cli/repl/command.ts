// What commands of the REPL have in common: what they are called with, what comes of them, and the
// fault of one that cannot be done.

import type { Session } from "./session.ts";

/** What a command works with. */
export interface CommandCall {
  session: Session;
  /** All behind the command's name. */
  argument: string;
  signal: AbortSignal;
}

/** "leave" ends the session. */
export type CommandOutcome = "leave" | void;

/** A fault of a command, as a sentence that says what to do; the conversation goes on. */
export class CommandError extends Error {
  override name = "CommandError";
}
