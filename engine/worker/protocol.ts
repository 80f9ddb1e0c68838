// The messages between a model's worker, or its process, and its client: plain data that
// postMessage can send. The client sends `load` once, then calls; the worker answers each call with
// events and one `end`.

import type { DiskOptions, FromStore, ToStore } from "../block_store/mod.ts";
import type { AskedFunctions, ChoiceQuestion, ChoiceReply } from "./choice_calls.ts";
import type { ErrorRecord } from "../error_record.ts";
import type { Piece } from "./pieces.ts";
import type {
  DeviceRefusal,
  LoadOptions,
  LoadProgress,
  MemoryUse,
  ModelInfo,
  ModelMethod,
  Occupancy,
} from "../types/mod.ts";

/**
 * Messages from the client to the worker. `closing`, `cancelled` and `answering` are the memory of
 * CancelFlags. They say the same as `close`, `cancel` and `answer`, but a thread sees them even
 * while it is too busy to receive messages. They are not sent to processes.
 */
export type ToWorker =
  | {
    kind: "load";
    path: string;
    options: Omit<LoadOptions, "onProgress" | "onBusy" | "onCrash" | "signal" | "blockStore">;
    /** Where blocks are kept that leave the KV cache. */
    blocks: BlockKeeping;
    closing?: SharedArrayBuffer;
  }
  | { kind: "blocks"; message: FromStore }
  | { kind: "piece"; id: number; piece: Piece }
  | {
    kind: "call";
    id: number;
    method: ModelMethod;
    /**
     * The last piece of the argument, without signals. Those before it came as messages of their own.
     */
    argument: Piece;
    cancelled?: SharedArrayBuffer;
    answering?: SharedArrayBuffer;
    /** Which functions over logits the client has for it. */
    functions?: AskedFunctions;
  }
  /** The answer to a question. */
  | { kind: "chosen"; id: number; reply: ChoiceReply }
  /** The client has taken a piece of the result, so that another may come. */
  | { kind: "taken"; id: number }
  | { kind: "cancel"; id: number }
  | { kind: "answer"; id: number }
  | { kind: "close" };

/** A call of a method. */
export type CallMessage = Extract<ToWorker, { kind: "call" }>;

/** Where blocks are kept that leave the KV cache. */
export interface BlockKeeping {
  /**
   * What has the bytes of blocks in memory: the client, or the worker's own process. In either case the
   * client's store decides which are kept. Missing: none are kept in memory.
   */
  memory?: "client" | "worker";
  disk?: DiskOptions;
  /** Folder of the digests of models' files. */
  digests?: string;
}

/** What does not change after a model is loaded, and its memory at that moment. */
export interface LoadedModel {
  info: ModelInfo;
  contextLength: number;
  memory: MemoryUse;
  occupancy?: Occupancy | undefined;
  device?: string | undefined;
  warnings: readonly string[];
  refusal?: DeviceRefusal | undefined;
}

/**
 * Messages from the worker to the client. An `end` without an error is the end of the stream; the
 * call may have increased the memory of the model. A process sends `busy` when its worker does not
 * answer, and `free` when it answers again; `lost` says that the model's device failed.
 */
export type ToClient =
  | { kind: "progress"; progress: LoadProgress }
  | { kind: "loaded"; model: LoadedModel }
  | { kind: "failed"; error: ErrorRecord }
  | { kind: "event"; id: number; event: unknown }
  | { kind: "piece"; id: number; piece: Piece; isLast: boolean }
  /** A call asks its client for logits or a token; it asks no more until it is told. */
  | { kind: "choose"; id: number; question: ChoiceQuestion }
  | { kind: "end"; id: number; memory: MemoryUse; error?: ErrorRecord }
  | { kind: "occupancy"; occupancy: Occupancy }
  | { kind: "blocks"; message: ToStore }
  | { kind: "warning"; text: string }
  | { kind: "busy"; milliseconds: number }
  | { kind: "free" }
  | { kind: "lost"; error: ErrorRecord }
  | { kind: "closed" };

/** The receiver of a host's messages. */
export interface HostListener {
  receive(message: ToClient): void;
  /** Called with the text of an uncaught error, or with how the host ended. */
  crash(state: string): void;
}

/** Where a model runs: a thread or a process. */
export interface ModelHost {
  send(message: ToWorker): void;
  /** Sets the receiver of messages, in place of the one before. */
  listen(listener: HostListener): void;
  /** Ends the host, which must be idle. */
  end(): void;
  /** Ends the host, whatever it is doing. Missing for threads, for which that is impossible. */
  kill?(): void;
}
