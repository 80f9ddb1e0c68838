// The request for a new model, and the reports while it is made.

import { EventQueue } from "../generate/mod.ts";
import type { ModelMessage } from "./modelfile.ts";
import type { Parameters } from "./parameters.ts";

/** The request for a model, from another model or from files that are blobs of the store. */
export interface CreateRequest {
  /** Name of the new model. An existing one is replaced. */
  readonly model: string;
  /** Name of the base model, which is pulled if it is not in the store. */
  readonly from?: string;
  /** Relative paths of files, with the digests of their blobs. */
  readonly files?: Readonly<Record<string, string>>;
  /** LoRA adapters in GGUF, in the same form. */
  readonly adapters?: Readonly<Record<string, string>>;
  /** Control vectors of its answers. Default: those of the base; an empty list is none. */
  readonly controlVectors?: readonly RequestedControlVector[];
  /** Name of its draft model; unknown ones are pulled. */
  readonly draft?: string;
  /** The GGUF file of its draft model, as `files` names them: one, without `draft`. */
  readonly draftFiles?: Readonly<Record<string, string>>;
  /** Address of the server that has the model `from`. Its weights are not stored here. */
  readonly remoteHost?: string;
  /** Type to which weights are quantized, such as "Q4_K_M". */
  readonly quantize?: string;
  /** Template in the language of Go. */
  readonly template?: string;
  readonly system?: string;
  readonly parameters?: Parameters;
  readonly messages?: readonly ModelMessage[];
  readonly license?: readonly string[];
  readonly requires?: string;
  readonly renderer?: string;
  readonly parser?: string;
  /** Values that override those of the file in the model's description. */
  readonly info?: Readonly<Record<string, unknown>>;
}

/** A control vector of a new model. */
export interface RequestedControlVector {
  /** Name of one of the server's vectors, or with a digest the relative path of a file. */
  readonly name: string;
  /** Digest of the file's blob. */
  readonly digest?: string;
  /** Factor of its directions. Default 1. */
  readonly scale?: number;
}

/** A report of progress. Sizes are in bytes. */
export interface CreateProgress {
  readonly status: string;
  readonly digest?: string;
  readonly total?: number;
  readonly completed?: number;
}

/** Receives all reports, in order. */
export type Report = (progress: CreateProgress) => void;

/** Fetches a model into the store, and yields records. */
export type Pull = (name: string, signal: AbortSignal) => AsyncIterable<CreateProgress>;

// Work that reports its progress as a stream of records. If the reader stops, the work is aborted,
// and the stream only ends when the work has ended.

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
