// What the manager needs, is asked for and gives. Types alone.

import type { Estimate, FileSource, MemoryBudget } from "../memory/mod.ts";
import type { ModelSource, StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadOptions, LoadProgress, MemoryUse } from "../types.ts";
import type { Clock } from "./clock.ts";

/** Where models run. */
export type Isolation = "auto" | "worker" | "process";

/** How a manager has a model loaded. */
export interface OpenOptions extends LoadOptions {
  /** Whether it is to run in a process of its own, which can be killed. Default false. */
  isolated?: boolean;
}

/** What a manager needs. */
export interface ManagerOptions {
  /** Where the models are. */
  store: { find(name: string): Promise<StoreEntry> };
  /** Loads a model. The options' `onProgress` has to be called as it goes on. */
  open: (source: ModelSource, options: OpenOptions) => Promise<ChatModel>;
  /** How to tell what a model will take. Default: unknown, and everything fits. */
  estimate?: (source: FileSource) => Promise<Estimate & Partial<Disposable>>;
  /** Memory for models; read before the first load. Default: as much as they take. */
  budget?: () => Promise<MemoryBudget>;
  /** Whether layers are faster on the GPU than on the CPU beside it. Default: they are. */
  isGpuFaster?: () => Promise<boolean>;
  /** Most models in memory at a time. Default, and 0: as many as fit. */
  maxLoaded?: number;
  /** How long an idle model stays, in milliseconds; Infinity is for ever. Default 5 minutes. */
  keepAlive?: number;
  /** How long a load may stand still, in milliseconds. Default 5 minutes. */
  loadTimeout?: number;
  /**
   * Where models run: in a worker, in a process each, or in a worker until one could not be closed,
   * and then in a process (auto, the default).
   */
  isolation?: Isolation;
  /** How a model is loaded unless the request says otherwise. */
  load?: Pick<LoadOptions, "contextLength" | "maxSequences" | "cacheType">;
  /** Told what people should know, such as a window smaller than it could be. */
  warn?: (message: string) => void;
  clock?: Clock;
}

/** What a request may ask of the load of its model. */
export interface AskedLoad {
  /** Window in tokens that it needs. A smaller one loaded is replaced, a larger one is fine. */
  contextLength?: number;
  /** Layers on the GPU. A model loaded with others is replaced; below 0, and by default, any is fine. */
  gpuLayers?: number;
}

/** How one request wants its model. */
export interface AcquireOptions extends AskedLoad {
  /** New keep-alive of the model in milliseconds; 0 closes it after the request. */
  keepAlive?: number;
  /** Ends the wait, not the load. */
  signal?: AbortSignal;
}

/** A loaded model that stays loaded until it is released. */
export interface Lease {
  /** What was asked for; its copies in the store share the model. */
  readonly entry: StoreEntry;
  readonly model: ChatModel;
  /** How long the request waited for the model, in milliseconds. */
  readonly loadMilliseconds: number;
  /**
   * Gives the model back; later calls do nothing.
   *
   * @param cause what ended the use, if it failed: after a ModelClosedError the model is dropped
   */
  release(cause?: unknown): void;
}

/** What a load would take of memory, and what there is. Bytes. */
export interface MemoryPlan {
  /** What it would take. */
  readonly memory: MemoryUse;
  /** The window that the model would have, in tokens. */
  readonly contextLength: number;
  /** Whether the window is smaller than what the model would get if there were more memory. */
  readonly isShrunk: boolean;
  /** What the device of the models has for all of them. */
  readonly total: number;
  /** What the system has beside it; missing where models are on one device alone. */
  readonly systemTotal?: number;
}

/** A model in memory, or on its way into it. */
export interface RunningModel {
  /** What was last asked for of it. */
  readonly entry: StoreEntry;
  /** Undefined while it is loaded. */
  readonly model?: ChatModel;
  /** How far it is loaded, if it is not yet there and that is known. */
  readonly progress?: LoadProgress;
  /** What it takes of its devices, or will. */
  readonly memory: MemoryUse;
  /** Its window in tokens, or the one that it will have. */
  readonly contextLength: number;
  /** When it leaves if nobody asks for it; milliseconds since 1970, Infinity for never. */
  readonly expiresAt: number;
}
