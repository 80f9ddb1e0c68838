// Moves the blobs of a pull or a push side by side and tells their progress in the records of
// Ollama's API. How a blob is moved is for others to know.

import type { Layer } from "../../engine/mod.ts";
import { forEachParallel } from "./parallel.ts";
import type { Outlet } from "./relay.ts";
import type { TransferTuning } from "./tuning.ts";

/** A record of a pull or a push. */
export interface TransferProgress {
  /**
   * The work that is done, such as "pulling manifest" or "pulling 7cd4618c1faf"; at last "success".
   */
  status: string;
  /** The blob that is transferred. */
  digest?: string;
  /** Its size in bytes. */
  total?: number;
  /** Bytes that are there; missing while none are. */
  completed?: number;
}

/** Moves one blob and tells how many of its bytes are there. */
export type BlobTransfer = (
  blob: Layer,
  report: (completed: number) => void,
  signal: AbortSignal,
) => Promise<void>;

/**
 * Transfers blobs side by side. Each has a record when it first reports, if it does, every so often
 * after that, and at its end.
 */
export async function transferBlobs(
  verb: "pulling" | "pushing",
  blobs: readonly Layer[],
  transfer: BlobTransfer,
  options: {
    outlet: Outlet<TransferProgress>;
    tuning: TransferTuning;
    /** Number of blobs that are transferred at the same time. */
    limit: number;
    signal: AbortSignal;
  },
): Promise<void> {
  const { outlet, tuning, limit, signal } = options;
  const running = new Map<Layer, number>();
  const emit = (blob: Layer, completed: number) => outlet.emit(progressOf(verb, blob, completed));
  const ticker = setInterval(() => {
    if (!outlet.isDrained) return;
    for (const [blob, completed] of running) emit(blob, completed);
  }, tuning.progress);
  try {
    await forEachParallel(blobs, limit, signal, async (blob, signal) => {
      const report = (completed: number) => {
        if (!running.has(blob)) emit(blob, completed);
        running.set(blob, completed);
      };
      await transfer(blob, report, signal);
      running.delete(blob);
      emit(blob, blob.size);
    });
  } finally {
    clearInterval(ticker);
  }
}

function progressOf(verb: string, { digest, size }: Layer, completed: number): TransferProgress {
  const status = `${verb} ${digest.slice("sha256:".length).slice(0, 12)}`;
  return { status, digest, total: size, ...(completed > 0 ? { completed } : {}) };
}
