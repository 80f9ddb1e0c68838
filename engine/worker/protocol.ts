// What a model's worker, or its process, and its client say to each other: plain data, as postMessage
// takes it. The client sends `load` once, then calls; the worker answers each with events and one end.

import type { DiskOptions, FromStore, ToStore } from "../block_store/mod.ts";
import type { ErrorRecord } from "../error_record.ts";
import type { LoadOptions, LoadProgress, MemoryUse, ModelInfo } from "../types.ts";

/** The calls that a model in a worker takes, by the name of the method. */
export type Method =
  | "generate"
  | "chat"
  | "renderChat"
  | "countTokens"
  | "tokenize"
  | "embedWithUsage"
  | "embedImage";

/**
 * From the client to the worker. `closing`, `cancelled` and `answering` are the memory of CancelFlags,
 * which say the same as `close`, `cancel` and `answer` to a thread that is too busy to hear messages; another process has none.
 */
export type ToWorker =
  | {
    kind: "load";
    path: string;
    options: Omit<LoadOptions, "onProgress" | "onBusy" | "signal" | "blockStore">;
    /** Where blocks go that leave the KV cache. */
    blocks: BlockKeeping;
    closing?: SharedArrayBuffer;
  }
  | { kind: "blocks"; message: FromStore }
  | {
    kind: "call";
    id: number;
    method: Method;
    request: unknown;
    cancelled?: SharedArrayBuffer;
    answering?: SharedArrayBuffer;
  }
  | { kind: "cancel"; id: number }
  | { kind: "answer"; id: number }
  | { kind: "close" };

/** How blocks are kept that leave the KV cache. */
export interface BlockKeeping {
  /** Most bytes in memory; missing where nothing is kept there. */
  memoryBytes?: number;
  /** Whether the client keeps them there, and the worker mirrors it; else the worker does. */
  isMirrored: boolean;
  disk?: DiskOptions;
}

/** What is fixed once a model is loaded. */
export interface LoadedModel {
  info: ModelInfo;
  contextLength: number;
  memory: MemoryUse;
  warnings: readonly string[];
}

/**
 * From the worker to the client. An `end` without an error is the end of the stream; what the model
 * holds may have grown with the call. A process says `busy` when the worker in it does not answer, and
 * `free` when it does again.
 */
export type ToClient =
  | { kind: "progress"; progress: LoadProgress }
  | { kind: "loaded"; model: LoadedModel }
  | { kind: "failed"; error: ErrorRecord }
  | { kind: "event"; id: number; event: unknown }
  | { kind: "end"; id: number; memory: MemoryUse; error?: ErrorRecord }
  | { kind: "blocks"; message: ToStore }
  | { kind: "warning"; text: string }
  | { kind: "busy"; milliseconds: number }
  | { kind: "free" }
  | { kind: "closed" };

/** Who hears a host. */
export interface HostListener {
  receive(message: ToClient): void;
  /** Told what was not caught there, or how it ended. */
  crash(state: string): void;
}

/** Where a model runs: a thread, or a process. */
export interface ModelHost {
  send(message: ToWorker): void;
  /** Hears it, in place of whoever did before. */
  listen(listener: HostListener): void;
  /** Ends it, once it is at nothing. */
  end(): void;
  /** Ends it whatever it is at; missing where that cannot be, which is so of threads. */
  kill?(): void;
}
