// The options of a load, and its progress.

import type { CacheType, CacheTypes, DeviceOptions } from "../../kernels/mod.ts";
import type { BlockStoreOptions } from "../block_store/mod.ts";
import type { ModelLostError, WorkerBusyError } from "../errors.ts";
import type { WebFile } from "../web_files/mod.ts";
import type { ProofOptions, TuningOptions } from "../tuning/mod.ts";

/** Progress of a load. */
export interface LoadProgress {
  /** Bytes of weights on the device so far. */
  loaded: number;
  /** Bytes of all weights. */
  total: number;
  /** The name of the file that is being fetched, whose bytes these are. Missing: they are weights. */
  fetching?: string;
}

/** The file of a LoRA adapter. */
export interface AdapterSource {
  /** Its path. */
  path: string;
  /** The name by which requests choose it. Default: that in the file, else that of the file. */
  name?: string;
  /**
   * Its factor, in addition to its own scale, in requests that name no adapters; from -100 to 100.
   * Default 1; 0: only requests that name it have it.
   */
  scale?: number;
}

/** The part of a model on the GPU. The CPU has and computes the rest. */
export interface GpuShare {
  /**
   * Number of layers on the GPU, from the last one on, where the head counts as a layer; 0: none.
   * Default, and below 0: all, or as many as fit if memory is planned. Ignored without a GPU.
   */
  gpuLayers?: number;
  /**
   * For a mixture of experts: number of layers whose experts are on the GPU, too, from the last one
   * on. Default: all.
   */
  gpuExpertLayers?: number;
}

/** The options of a load. */
export interface LoadOptions extends GpuShare {
  /**
   * Window in tokens, at most the trained one. Default: as large as memory allows, at least 8192.
   */
  contextLength?: number;
  /**
   * Most sequences that run at the same time. Default 8; the KV cache is shared by all. Encoders of texts
   * take as many as fill a step, whatever this says.
   */
  maxSequences?: number;
  /**
   * Number of windows for which the KV cache has memory, if there is enough. With more than one,
   * sequences can run side by side and stay cached. Default 2.
   */
  cacheWindows?: number;
  /**
   * Type of keys and values in the KV cache: q8_0 takes about half the memory of f16, q4_0 a
   * quarter. Keys suffer more from few bits than values. Default f16, or f32 with `exact`.
   */
  cacheType?: CacheType | CacheTypes;
  /**
   * Whether to use f32 activations and an f32 KV cache instead of int8 and f16. Slower, but exact.
   */
  exact?: boolean;
  /**
   * Stores for blocks that leave the KV cache, so that they can be restored for prompts that begin
   * like earlier ones.
   */
  blockStore?: BlockStoreOptions;
  /**
   * How the kernels of the device are tuned while the model is idle, and where the results are kept.
   * Default: they are not tuned.
   */
  tuning?: TuningOptions;
  /**
   * How the device proves that it computes the model right, before it answers, and where the results are
   * kept. A device that does not is not used: the CPU answers, and the model tells of it (`refusal`).
   * Default: nothing is proved.
   */
  proof?: ProofOptions;
  /** LoRA adapters beside the model, of which each request can have others (`lora`); at most 32. */
  adapters?: readonly AdapterSource[];
  /**
   * Path of the GGUF file of a draft model: a smaller model with the same vocabulary, which drafts the
   * next tokens, so that a step checks several at once. It changes how fast an answer comes, never what
   * it says, and takes memory of its own. Default: the model's own head for multi-token prediction, if
   * its file has one. Errors: UnsupportedModelError if it does not fit the model.
   */
  draft?: string;
  /**
   * Path of the GGUF file with its image encoder (`mmproj`). Default: the model's own file, if it
   * has one.
   */
  projector?: string;
  /** Fewest rows of an image, for models that leave a choice. Default: the model's. */
  imageMinTokens?: number;
  /** Most rows of an image, for models that leave a choice. Default: the model's. */
  imageMaxTokens?: number;
  /**
   * What computes. Default: QUERN_DEVICE, or else a GPU if there is one, or else the CPU with a thread for
   * each core, or with one where threads cannot share memory (`device` of the model says so).
   */
  device?: Pick<DeviceOptions, "kind" | "threads">;
  /**
   * Where the files of the model and of its options are if they are not this machine's, by the names that
   * the options have for them: addresses, picked files, or bytes. See {@linkcode openSources}.
   */
  sources?: Readonly<Record<string, WebFile>>;
  /** Most prompt tokens per step. Default: depends on the device. */
  prefillChunk?: number;
  /** The first of the model's warnings, found before the load. */
  warnings?: readonly string[];
  /** Called while weights are copied to the device. */
  onProgress?: (progress: LoadProgress) => void;
  /**
   * Called if a worker does not answer for a while after a request was aborted, or does not close.
   * It is running work that cannot be cancelled.
   */
  onBusy?: (busy: WorkerBusyError) => void;
  /**
   * Called if the worker or the process of the loaded model ends by itself, or its device fails: it has
   * to be loaded anew.
   */
  onCrash?: (error: ModelLostError) => void;
  /** Aborting it ends the load with its reason. */
  signal?: AbortSignal;
}
