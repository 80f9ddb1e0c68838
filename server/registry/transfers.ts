// Moves the blobs of a pull or a push side by side and tells their progress in the records of
// Ollama's API. How a blob is moved is for others to know.

import type { Layer, ModelStore } from "../../engine/mod.ts";
import { type ClientOptions, RegistryClient } from "./client.ts";
import { type FreeBytes, systemFreeBytes } from "./disk_space.ts";
import { forEachParallel } from "./parts.ts";
import { RegistryReference } from "./reference.ts";
import { DEFAULT_TUNING, type TransferTuning } from "./tuning.ts";

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

// Turns work that reports its progress into a generator of the reports: the work runs by itself,
// the reader takes reports at its own pace, and when the reader stops, the work ends.

/** The receiver of the work's reports. */
export interface Outlet<T> {
  /** Hands on a report. */
  emit(report: T): void;
  /**
   * Whether the reader has taken all reports. If not, reports that later ones replace can be
   * skipped.
   */
  readonly isDrained: boolean;
}

/**
 * The reports of `work`, then its error if it fails.
 *
 * @param parent ends the work, as leaving the loop over the generator does
 */
export async function* relay<T>(
  work: (outlet: Outlet<T>, signal: AbortSignal) => Promise<void>,
  parent: AbortSignal,
): AsyncGenerator<T> {
  const left = new AbortController();
  const reports: T[] = [];
  let wake = () => {};
  let ended = false;
  const outlet: Outlet<T> = {
    emit(report) {
      reports.push(report);
      wake();
    },
    get isDrained() {
      return reports.length === 0;
    },
  };
  const result = work(outlet, AbortSignal.any([parent, left.signal])).finally(() => {
    ended = true;
    wake();
  });
  result.catch(() => {}); // It is thrown below, after the reports.
  try {
    for (;;) {
      while (reports.length > 0) yield reports.shift()!;
      if (ended) break;
      await new Promise<void>((resolve) => wake = resolve);
    }
    await result;
  } finally {
    left.abort();
    await result.catch(() => {});
  }
}

// What a pull and a push have in common: a model's name becomes a client of its registry, and the work
// runs under the store's lock while somebody reads its reports.

/** How to pull or push. */
export interface TransferOptions extends ClientOptions {
  /** Allows http, which is then the default, for the registry and all it redirects to. */
  insecure?: boolean;
  /** Ends the transfer; what a pull has downloaded stays for the next one. */
  signal: AbortSignal;
  /** Sizes and times that differ from the defaults. */
  tuning?: Partial<TransferTuning>;
  /** Bytes that can still be written to a folder's disk. Default: what the system says. */
  freeBytes?: FreeBytes;
}

/** The parts that the work is given. */
export interface Transfer {
  store: ModelStore;
  /** Talks to the registry of the model, `client.reference`. */
  client: RegistryClient;
  tuning: TransferTuning;
  freeBytes: FreeBytes;
  outlet: Outlet<TransferProgress>;
  signal: AbortSignal;
}

/**
 * Runs the work, and gives its reports.
 *
 * @param name `[scheme://][host/][namespace/]model[:tag]`
 * @throws {StoreError} if the name is none
 */
export function transfer(
  store: ModelStore,
  name: string,
  options: TransferOptions,
  work: (transfer: Transfer) => Promise<void>,
): AsyncGenerator<TransferProgress> {
  const { insecure = false, freeBytes = systemFreeBytes } = options;
  return relay(async (outlet, signal) => {
    const client = new RegistryClient(new RegistryReference(name, insecure), options);
    const tuning = { ...DEFAULT_TUNING, ...options.tuning };
    await store.protect(() => work({ store, client, tuning, freeBytes, outlet, signal }));
  }, options.signal);
}
