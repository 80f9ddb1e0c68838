// The types of the manager's options, requests and results.

import type { Estimate, FileSource, MemoryBudget } from "../memory/mod.ts";
import type { ModelSource, StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadOptions, LoadProgress, MemoryUse } from "../types/mod.ts";
import type { Clock } from "./clock.ts";

/** The place where models run. */
export type Isolation = "auto" | "worker" | "process";

/** The options of one load by a manager. */
export interface OpenOptions extends LoadOptions {
  /** Whether the model runs in a process of its own, which can be killed. Default false. */
  isolated?: boolean;
}

export interface ManagerOptions {
  /** The store of models. */
  store: { find(name: string): Promise<StoreEntry> };
  /** Loads a model. It has to call `onProgress` while it makes progress. */
  open: (source: ModelSource, options: OpenOptions) => Promise<ChatModel>;
  /** Estimates how much memory a model will take. Default: unknown, and everything fits. */
  estimate?: (source: FileSource) => Promise<Estimate & Partial<Disposable>>;
  /** Called when a load begins, so that what it will need starts while its memory is estimated. */
  startAhead?: () => void;
  /** The memory for models, read before the first load. Default: unlimited. */
  budget?: () => Promise<MemoryBudget>;
  /** Whether layers are faster on the GPU than on the CPU beside it. Default: they are. */
  isGpuFaster?: () => Promise<boolean>;
  /** Most models in memory at a time. Default, and 0: as many as fit. */
  maxLoaded?: number;
  /** How long an idle model stays, in milliseconds; Infinity is for ever. Default 5 minutes. */
  keepAlive?: number;
  /** How long a load may make no progress, in milliseconds. Default 5 minutes. */
  loadTimeout?: number;
  /**
   * Where models run. "auto", the default, is a worker, and a process after the worker of the same
   * model could not be closed.
   */
  isolation?: Isolation;
  /** Load options for requests that do not set them. */
  load?: Pick<LoadOptions, "contextLength" | "maxSequences" | "cacheType">;
  /** Receives messages for users, such as that a window is smaller than it could be. */
  warn?: (message: string) => void;
  clock?: Clock;
}

/**
 * Demands that a request may make of its model's load. What it does not name is the server's default,
 * whatever the model was loaded for. Options besides the window are an exception: while others name
 * some again and again, it gets those (managed_model.ts).
 */
export interface AskedLoad {
  /**
   * Window in tokens. A loaded model with a smaller window is replaced, of one with a larger window
   * the request gets as much as it named. Default: the server's, or what a load chooses.
   */
  contextLength?: number;
  /**
   * Layers on the GPU. A model loaded with another number is replaced. Below 0, and by default, as many as
   * fit.
   */
  gpuLayers?: number;
  /**
   * Most prompt tokens per step, at least 1. A model that was loaded with another number is replaced.
   * Default: the device's.
   */
  prefillChunk?: number;
  /**
   * Name of the draft model; "" for none. A model loaded with another one is replaced. Default: the
   * one that the model's creator chose, or none.
   */
  draft?: string;
}

/** The options of one request for a model. */
export interface AcquireOptions extends AskedLoad {
  /** New keep-alive of the model in milliseconds; 0 closes it after the request. */
  keepAlive?: number;
  /** Aborting it ends the wait, not the load. */
  signal?: AbortSignal;
}

/** A loaded model that stays loaded until it is released. */
export interface Lease {
  /** The requested entry. Other entries with the same files share the model. */
  readonly entry: StoreEntry;
  /** The model, with the window of the request. */
  readonly model: ChatModel;
  /** How long the request waited for the model, in milliseconds. */
  readonly loadMilliseconds: number;
  /**
   * Gives the model back; later calls do nothing.
   *
   * @param cause why the use ended, if it failed: after a ModelClosedError the model is dropped
   */
  release(cause?: unknown): void;
}

/** The memory that a load would take, and the memory that there is. In bytes. */
export interface LoadEstimate {
  /** The memory that the load would take. */
  readonly memory: MemoryUse;
  /** The window that the model would have, in tokens. */
  readonly contextLength: number;
  /** Whether the window is smaller than what the model would get if there were more memory. */
  readonly isShrunk: boolean;
  /** Memory of the models' device for all models. */
  readonly total: number;
  /** Memory of the system beside it; missing if models are on one device alone. */
  readonly systemTotal?: number;
}

/** A model that is loaded or loading. */
export interface RunningModel {
  /** The entry that was requested last. */
  readonly entry: StoreEntry;
  /** Undefined until it is loaded. */
  readonly model?: ChatModel;
  /** Requests that use it, or wait for it. */
  readonly users: number;
  /** Progress of its load; missing if it is loaded, or if nothing is known. */
  readonly progress?: LoadProgress;
  /** Memory that it takes, or will take, of its devices. */
  readonly memory: MemoryUse;
  /** Its window in tokens, or the one that it will have. */
  readonly contextLength: number;
  /**
   * Time at which it is closed if no request comes, in milliseconds since 1970; Infinity for never.
   */
  readonly expiresAt: number;
}
