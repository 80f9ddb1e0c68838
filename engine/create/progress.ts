// Work that reports as it goes, as a stream of records. Whoever stops reading ends the work; the
// stream is over only once the work is, so that nothing runs on behind it.

import { EventQueue } from "../generate/mod.ts";
import type { CreateProgress, Report } from "./types.ts";

/** Least time between two records of one piece of work, in milliseconds. */
const INTERVAL = 60;

/**
 * The records of a piece of work, then its error if it has one.
 *
 * @param signal ends the work with its reason
 */
export async function* streamProgress(
  work: (report: Report, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<CreateProgress> {
  const abandoned = new AbortController();
  const queue = new EventQueue<CreateProgress>(() => abandoned.abort());
  const ended = work(
    (progress) => queue.push(progress),
    AbortSignal.any([signal, abandoned.signal]),
  ).then(() => queue.close(), (error) => queue.close({ error }));
  try {
    yield* queue;
  } finally {
    abandoned.abort();
    await ended;
  }
}

/** A function that tells how far something is: at its first call, at its end, and now and then. */
export function paced(
  report: Report,
  head: Pick<CreateProgress, "status" | "digest">,
): (completed: number, total: number) => void {
  let next = -Infinity;
  return (completed, total) => {
    if (performance.now() < next && completed < total) return;
    next = performance.now() + INTERVAL;
    report({ ...head, total, ...(completed > 0 && { completed }) });
  };
}
