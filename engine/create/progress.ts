// Work that reports its progress as a stream of records. If the reader stops, the work is aborted,
// and the stream only ends when the work has ended.

import { EventQueue } from "../generate/mod.ts";
import type { CreateProgress, Report } from "./types.ts";

/** Fewest milliseconds between two records of one piece of work. */
const INTERVAL = 60;

/**
 * The records of a piece of work, then its error if it fails.
 *
 * @param signal aborting it ends the work
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

/** A function that reports progress at its first call, at the end, and in between at intervals. */
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
