// Making GGUF files from other files on a thread of its own, because it takes minutes of arithmetic
// while the thread of the server has to receive requests. The client of file_worker.ts.

import { startWorker, untilRoomForWorker } from "../../kernels/mod.ts";
import { CancelFlag } from "../cancellation.ts";
import { crashOfWorker } from "../errors.ts";
import { type ErrorRecord, unpackError } from "../error_record.ts";
import { untilAborted } from "../async.ts";
import type { QuantizationName } from "./quantize/mod.ts";

/** A piece of work, with the paths of files and folders. */
export type FileWork =
  | { kind: "quantize"; from: string; to: string; type: QuantizationName }
  | { kind: "convert"; folder: string; to: string }
  | { kind: "convert bin"; from: string; to: string }
  | { kind: "join"; from: string; to: string };

export interface FileWorkOptions {
  /** Receives the number of bytes of tensors that are done, and of all. */
  onProgress?(done: number, total: number): void;
  /** Aborting it ends the work. */
  readonly signal: AbortSignal;
}

/** The message to the thread: the work, and the memory of a CancelFlag. */
export interface FileWorkOrder {
  readonly work: FileWork;
  readonly cancelled: SharedArrayBuffer;
}

/** The messages from the thread. */
export type FileWorkReport =
  | { kind: "progress"; done: number; total: number }
  | { kind: "ended"; error?: ErrorRecord };

/** Most threads at a time, because models have to answer beside them. */
const MOST_THREADS = Math.max(1, Math.floor(navigator.hardwareConcurrency / 2));

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Runs the work. A failed or aborted attempt leaves no file.
 *
 * @throws the errors of quantizeModel(), convertSafetensors(), convertBin() and joinShards(); the signal's reason
 */
export async function doFileWork(work: FileWork, options: FileWorkOptions): Promise<void> {
  await takePlace(options.signal);
  try {
    await workOnThread(work, options);
  } finally {
    running--;
    waiting.shift()?.();
  }
}

/** Waits until fewer than the most threads are working. */
async function takePlace(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (running >= MOST_THREADS) {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    try {
      await untilAborted(promise, signal);
    } catch (error) {
      const place = waiting.indexOf(resolve);
      if (place >= 0) waiting.splice(place, 1);
      else waiting.shift()?.(); // its turn had come, so the next one takes it
      throw error;
    }
  }
  running++;
}

async function workOnThread(
  work: FileWork,
  { onProgress, signal }: FileWorkOptions,
): Promise<void> {
  await untilRoomForWorker();
  const thread = startWorker(
    new URL("./file_worker.ts", import.meta.url),
    "Cannot make the model's file",
  );
  const ended = Promise.withResolvers<void>();
  thread.onmessage = ({ data }: MessageEvent<FileWorkReport>) => {
    if (data.kind === "progress") onProgress?.(data.done, data.total);
    else if (data.error) ended.reject(unpackError(data.error));
    else ended.resolve();
  };
  thread.onerror = (event) => {
    event.preventDefault();
    ended.reject(crashOfWorker("Cannot make the model's file", event.message));
  };
  const cancelled = new CancelFlag();
  const abort = () => cancelled.set();
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    thread.postMessage({ work, cancelled: cancelled.memory } satisfies FileWorkOrder);
    await ended.promise;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
    thread.terminate();
  }
}
