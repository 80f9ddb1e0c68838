// One load of a model: planned so that it fits, opened, watched. Which models leave for it is decided
// by manager.ts.

import type { GpuMemoryError } from "../../kernels/mod.ts";
import { EngineError, type WorkerBusyError } from "../errors.ts";
import { formatSize, type LoadPlan, type PlanLimits, planLoad } from "../memory/mod.ts";
import type { StoreEntry } from "../store/types.ts";
import type { ChatModel, LoadOptions, LoadProgress } from "../types.ts";
import type { Clock } from "./clock.ts";
import type { ManagerOptions } from "./types.ts";
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
  async totalMemory(): Promise<number> {
    return (await this.#readBudget())?.total ?? Infinity;
  }

  /**
   * How to load a model so that it fits alone; undefined where that is not known, and for models that
   * take no memory here.
   *
   * @param contextLength the window that the request names
   * @throws {InsufficientMemoryError} if it does not fit
   */
  async plan(entry: StoreEntry, contextLength?: number): Promise<LoadPlan | undefined> {
    const budget = await this.#readBudget();
    const total = budget?.total ?? Infinity;
    const state = `the GPU has ${formatSize(total)} for models (${budget?.source})`;
    return await this.#planWithin(entry, contextLength, { total, state });
  }

  /**
   * How to load it in less memory, after the GPU refused a plan although it was to fit.
   *
   * @throws {InsufficientMemoryError} if there is no way; the refusal itself if there was no plan
   */
  async planSmaller(
    entry: StoreEntry,
    contextLength: number | undefined,
    { plan, error }: { plan: LoadPlan | undefined; error: GpuMemoryError },
  ): Promise<LoadPlan> {
    const bytes = plan?.bytes ?? 0;
    const state = `the GPU had no room for ${formatSize(bytes)}`;
    const limits = { total: NEXT_SHARE * bytes, state };
    const smaller = plan && await this.#planWithin(entry, contextLength, limits);
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
    contextLength: number | undefined,
    { plan, signal, onProgress, ...how }: {
      plan: LoadPlan | undefined;
      signal: AbortSignal;
      onProgress: (progress: LoadProgress) => void;
      isolated: boolean;
      onBusy: (busy: WorkerBusyError) => void;
    },
  ): Promise<ChatModel> {
    const options = { ...plan?.options ?? this.#optionsFor(contextLength), ...how };
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
    contextLength: number | undefined,
    limits: Omit<PlanLimits, "name">,
  ): Promise<LoadPlan | undefined> {
    if (!this.#options.estimate || source.kind === "remote") return undefined;
    const estimate = await this.#options.estimate(source);
    try {
      return await planLoad(estimate, this.#optionsFor(contextLength), { name, ...limits });
    } finally {
      estimate[Symbol.dispose]?.();
    }
  }

  #optionsFor(contextLength = this.#options.load?.contextLength): LoadOptions {
    const { load = {} } = this.#options;
    return { ...load, ...(contextLength !== undefined && { contextLength }) };
  }

  #readBudget() {
    return this.#budget ??= this.#options.budget?.();
  }
}
