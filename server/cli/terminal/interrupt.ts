// Ctrl-C during a command: the first one aborts the work, a second one does not wait for it to end.

import type { Terminal } from "./mod.ts";

/** Exit code of a process that Ctrl-C ended: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

/**
 * Does work that an interrupt aborts.
 *
 * @returns the exit code of the work, or 130 after an interrupt
 */
export async function interruptible(
  terminal: Terminal,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const abort = new AbortController();
  const impatient = Promise.withResolvers<number>();
  const forget = terminal.onInterrupt(() => {
    if (abort.signal.aborted) impatient.resolve(INTERRUPTED);
    abort.abort();
  });
  try {
    const code = await Promise.race([work(abort.signal), impatient.promise]);
    return abort.signal.aborted ? INTERRUPTED : code;
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    forget();
  }
}
