// The load of a model: chooses options with which it fits, opens it and watches its progress.
// manager.ts decides which other models are closed for it.

import type { GpuMemoryError } from "../../kernels/mod.ts";
import { EngineError, type ModelLostError, type WorkerBusyError } from "../errors.ts";
import {
  type FitLimits,
  fitLoad,
  type FittedLoad,
  formatSize,
  type MemoryBudget,
} from "../memory/mod.ts";
import type { StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadOptions, LoadProgress } from "../types/mod.ts";
import { type Clock, untilStalled } from "./clock.ts";
import type { ManagedModel } from "./managed_model.ts";
import type { AskedLoad, ManagerOptions } from "./types.ts";

/** Memory that a GPU is assumed to have after it refused a load, as a fraction of that load. */
const NEXT_FRACTION = 3 / 4;

/** The window of a load of files as they were. */
interface KnownWindow {
  readonly stamp: string | undefined;
  readonly window: Promise<number | undefined>;
}

/** The loader of a manager: fits models into memory and opens them. */
export class Loader {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  /** By the files and what is asked of their load, which are as many as there are models. */
  readonly #windows = new Map<string, KnownWindow>();
  #budget: ReturnType<NonNullable<ManagerOptions["budget"]>> | undefined;

  constructor(options: ManagerOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Bytes that all models together may take. */
  async totalMemory(): Promise<{ bytes: number; systemBytes: number }> {
    const { total = Infinity, system } = await this.#readBudget() ?? {};
    return { bytes: total, systemBytes: system?.total ?? Infinity };
  }

  /**
   * Options with which a model fits into memory alone. Undefined if that is not known, and for
   * models that take no memory here.
   *
   * @param asked what the request demands
   * @throws {InsufficientMemoryError} if it does not fit
   */
  async fit(entry: StoreEntry, asked: AskedLoad = {}): Promise<FittedLoad | undefined> {
    const budget = await this.#readBudget();
    const total = budget?.total ?? Infinity;
    const state = `the GPU has ${formatSize(total)} for models (${budget?.source})`;
    return await this.#fitWithin(entry, asked, { total, state, ...this.#systemOf(budget) });
  }

  /**
   * The window of such a load in tokens, worked out once for the same files and demands. Errors:
   * those of fit().
   */
  async windowOf(entry: StoreEntry, asked: AskedLoad): Promise<number | undefined> {
    const key = JSON.stringify([entry.source, asked]);
    const known = this.#windows.get(key);
    if (known && known.stamp === entry.stamp) return await known.window;
    const window = this.fit(entry, asked).then((fitted) => fitted?.estimate.contextLength);
    this.#windows.set(key, { stamp: entry.stamp, window });
    // What failed once may be the system's state, so the next call tries again.
    window.catch(() => this.#windows.delete(key));
    return await window;
  }

  /**
   * Options that take less memory, for a load that should have fitted and was refused by the GPU.
   *
   * @throws {InsufficientMemoryError} if there are none; the refusal itself if memory was not
   *   estimated
   */
  async fitSmaller(
    entry: StoreEntry,
    asked: AskedLoad,
    { fitted, error }: { fitted: FittedLoad | undefined; error: GpuMemoryError },
  ): Promise<FittedLoad> {
    const bytes = fitted?.bytes ?? 0;
    const state = `the GPU had no room for ${formatSize(bytes)}`;
    const system = this.#systemOf(await this.#readBudget());
    const limits = { total: NEXT_FRACTION * bytes, state, ...system };
    const smaller = fitted && await this.#fitWithin(entry, asked, limits);
    if (!smaller) throw error;
    return smaller;
  }

  /**
   * Loads a model.
   *
   * @param onProgress receives the progress
   * @throws {GpuMemoryError} if the GPU has too little memory for it
   * @throws {EngineError} if the load makes no progress for too long
   */
  async open(
    { name, source }: StoreEntry,
    asked: AskedLoad,
    { fitted, signal, onProgress, ...how }: {
      fitted: FittedLoad | undefined;
      signal: AbortSignal;
      onProgress: (progress: LoadProgress) => void;
      isolated: boolean;
      onBusy: (busy: WorkerBusyError) => void;
      onCrash: (error: ModelLostError) => void;
    },
  ): Promise<ChatModel> {
    const options = { ...fitted?.options ?? this.#optionsFor(asked), ...how };
    const milliseconds = this.#options.loadTimeout ?? 5 * 60_000;
    if (fitted?.isShrunk) {
      const { estimate: { contextLength } } = fitted;
      this.#options.warn?.(
        `${name}: the window is ${contextLength} tokens, as more does not fit the GPU's memory`,
      );
    }
    return await untilStalled(
      (goesOn, signal) =>
        this.#options.open(source, {
          ...options,
          onProgress(progress) {
            goesOn();
            onProgress(progress);
          },
          signal,
        }),
      (model) => void model.close().catch(() => {}),
      {
        clock: this.#clock,
        milliseconds,
        signal,
        error: () =>
          new EngineError(
            `Cannot load "${name}": it made no progress for ${milliseconds / 1000} seconds; ` +
              `set OLLAMA_LOAD_TIMEOUT if its disk is that slow`,
          ),
      },
    );
  }

  async #fitWithin(
    { name, source }: StoreEntry,
    asked: AskedLoad,
    limits: Omit<FitLimits, "name">,
  ): Promise<FittedLoad | undefined> {
    if (!this.#options.estimate || source.kind === "remote") return undefined;
    const estimate = await this.#options.estimate(source);
    try {
      return await fitLoad(estimate, this.#optionsFor(asked), { name, ...limits });
    } finally {
      estimate[Symbol.dispose]?.();
    }
  }

  /** The limit of the system's memory beside a GPU. */
  #systemOf(budget: MemoryBudget | undefined): Pick<FitLimits, "system"> {
    if (!budget?.system) return {};
    const { total, source } = budget.system;
    const { isGpuFaster } = this.#options;
    const state = `the CPU has ${formatSize(total)} (${source})`;
    return { system: { total, state, ...isGpuFaster && { isGpuFaster } } };
  }

  #optionsFor({ contextLength, gpuLayers, prefillChunk, draft }: AskedLoad): LoadOptions {
    return {
      ...this.#options.load,
      ...(contextLength !== undefined && { contextLength }),
      ...(gpuLayers !== undefined && { gpuLayers }),
      ...(prefillChunk !== undefined && { prefillChunk }),
      ...(draft && { draft }),
    };
  }

  #readBudget() {
    return this.#budget ??= this.#options.budget?.();
  }
}

// What a request demands of its model's load, and whether a loaded model meets it. A window decides
// what an answer can be, so each request gets the one that it names, else the default, whatever the
// model was loaded for. The other options only decide how fast it comes: managed_model.ts says when a request
// that names none of them takes a load that somebody else named some for.

/** The demands of a request on a load. Automatic values are no demand. */
export function demandsOf(
  { contextLength, gpuLayers = -1, prefillChunk, draft }: AskedLoad,
): AskedLoad {
  return {
    ...(contextLength !== undefined && { contextLength }),
    ...(gpuLayers >= 0 && { gpuLayers }),
    ...(prefillChunk !== undefined && { prefillChunk }),
    ...(draft !== undefined && { draft }),
  };
}

/** Whether a request names an option besides the window. */
export function namesOptions({ gpuLayers, prefillChunk, draft }: AskedLoad): boolean {
  return gpuLayers !== undefined || prefillChunk !== undefined || Boolean(draft);
}

/**
 * The window that a request gets of a loaded model, in tokens; undefined if the model's is too
 * small for it.
 *
 * @param automatic the window of a load that names none, or undefined if that is not known
 */
export function windowFor(
  { model, asked, entry }: ManagedModel,
  request: AskedLoad,
  automatic: number | undefined,
): number | undefined {
  const { contextLength } = model!;
  if (entry.source.kind === "remote") return contextLength;
  if (request.contextLength === undefined && asked.contextLength === undefined) {
    return contextLength;
  }
  const { trainedContextLength } = entry.info;
  const wanted = Math.min(
    request.contextLength ?? automatic ?? Infinity,
    trainedContextLength,
  );
  // A model may give less than the window that it was loaded for.
  const isEnough = wanted <= Math.max(contextLength, asked.contextLength ?? 0);
  return isEnough ? Math.min(wanted, contextLength) : undefined;
}

/**
 * How the options of a load, besides the window, stand to those of a request: they are those that it
 * gets; others that somebody named, while this request named none; or not those that it named.
 */
export function compareOptions(
  { asked, fitted, entry }: ManagedModel,
  request: AskedLoad,
): "same" | "unnamed" | "other" {
  if (entry.source.kind === "remote") return "same";
  const layers = fitted?.estimate.layout?.layers;
  const layersOf = ({ gpuLayers }: AskedLoad) =>
    layers === undefined || gpuLayers === undefined ? undefined : Math.min(gpuLayers, layers);
  const loadedLayers = layersOf(fitted?.options ?? asked) ?? layers;
  const agreements = [
    compare(request.draft, asked.draft || undefined, asked.draft ?? ""),
    compare(request.prefillChunk, asked.prefillChunk, asked.prefillChunk),
    compare(
      layersOf(request),
      layersOf(asked) === layers ? undefined : layersOf(asked),
      loadedLayers,
    ),
  ];
  if (agreements.includes("other")) return "other";
  return agreements.includes("unnamed") ? "unnamed" : "same";
}

/** @param named what was named for the load @param loaded what it has */
function compare<T>(wanted: T | undefined, named: T | undefined, loaded: T | undefined) {
  if (wanted !== undefined) return wanted === loaded ? "same" : "other";
  return named === undefined ? "same" : "unnamed";
}
