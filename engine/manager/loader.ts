// One load of a model: planned so that it fits, opened, watched. Which models leave for it is decided
// by manager.ts.

import type { GpuMemoryError } from "../../kernels/mod.ts";
import { EngineError, type WorkerBusyError } from "../errors.ts";
import {
  formatSize,
  type LoadPlan,
  type MemoryBudget,
  type PlanLimits,
  planLoad,
} from "../memory/mod.ts";
import type { StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadOptions, LoadProgress } from "../types.ts";
import type { Clock } from "./clock.ts";
import type { AskedLoad, ManagerOptions } from "./types.ts";
import { untilStalled } from "./waiting.ts";

/** What a GPU that refused a plan is taken to have, as a share of it. */
const NEXT_SHARE = 3 / 4;

/** Plans and opens models. */
export class Loader {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  #budget: ReturnType<NonNullable<ManagerOptions["budget"]>> | undefined;

  constructor(options: ManagerOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Bytes for all models. */
  async totalMemory(): Promise<{ bytes: number; systemBytes: number }> {
    const { total = Infinity, system } = await this.#readBudget() ?? {};
    return { bytes: total, systemBytes: system?.total ?? Infinity };
  }

  /**
   * How to load a model so that it fits alone; undefined where that is not known, and for models that
   * take no memory here.
   *
   * @param asked what the request says of it
   * @throws {InsufficientMemoryError} if it does not fit
   */
  async plan(entry: StoreEntry, asked: AskedLoad = {}): Promise<LoadPlan | undefined> {
    const budget = await this.#readBudget();
    const total = budget?.total ?? Infinity;
    const state = `the GPU has ${formatSize(total)} for models (${budget?.source})`;
    return await this.#planWithin(entry, asked, { total, state, ...this.#systemOf(budget) });
  }

  /**
   * How to load it in less memory, after the GPU refused a plan although it was to fit.
   *
   * @throws {InsufficientMemoryError} if there is no way; the refusal itself if there was no plan
   */
  async planSmaller(
    entry: StoreEntry,
    asked: AskedLoad,
    { plan, error }: { plan: LoadPlan | undefined; error: GpuMemoryError },
  ): Promise<LoadPlan> {
    const bytes = plan?.bytes ?? 0;
    const state = `the GPU had no room for ${formatSize(bytes)}`;
    const system = this.#systemOf(await this.#readBudget());
    const limits = { total: NEXT_SHARE * bytes, state, ...system };
    const smaller = plan && await this.#planWithin(entry, asked, limits);
    if (!smaller) throw error;
    return smaller;
  }

  /**
   * Loads a model.
   *
   * @param onProgress told of how far it is
   * @throws {GpuMemoryError} if the GPU has no memory for it
   * @throws {EngineError} if the load stands still
   */
  async open(
    { name, source }: StoreEntry,
    asked: AskedLoad,
    { plan, signal, onProgress, ...how }: {
      plan: LoadPlan | undefined;
      signal: AbortSignal;
      onProgress: (progress: LoadProgress) => void;
      isolated: boolean;
      onBusy: (busy: WorkerBusyError) => void;
    },
  ): Promise<ChatModel> {
    const options = { ...plan?.options ?? this.#optionsFor(asked), ...how };
    const milliseconds = this.#options.loadTimeout ?? 5 * 60_000;
    if (plan?.isShrunk) {
      const { estimate: { contextLength } } = plan;
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

  async #planWithin(
    { name, source }: StoreEntry,
    asked: AskedLoad,
    limits: Omit<PlanLimits, "name">,
  ): Promise<LoadPlan | undefined> {
    if (!this.#options.estimate || source.kind === "remote") return undefined;
    const estimate = await this.#options.estimate(source);
    try {
      return await planLoad(estimate, this.#optionsFor(asked), { name, ...limits });
    } finally {
      estimate[Symbol.dispose]?.();
    }
  }

  /** What the system has beside a GPU. */
  #systemOf(budget: MemoryBudget | undefined): Pick<PlanLimits, "system"> {
    if (!budget?.system) return {};
    const { total, source } = budget.system;
    const { isGpuFaster } = this.#options;
    const state = `the CPU has ${formatSize(total)} (${source})`;
    return { system: { total, state, ...isGpuFaster && { isGpuFaster } } };
  }

  #optionsFor({ contextLength, gpuLayers }: AskedLoad): LoadOptions {
    return {
      ...this.#options.load,
      ...(contextLength !== undefined && { contextLength }),
      ...(gpuLayers !== undefined && { gpuLayers }),
    };
  }

  #readBudget() {
    return this.#budget ??= this.#options.budget?.();
  }
}
