// Tunes the kernels of a model's device while the model is idle, and keeps what is found. How kernels are
// tuned is the device's business (kernels/tuning.ts).

import {
  type Device,
  DeviceLostError,
  GpuError,
  GpuMemoryError,
  type KernelCase,
  keyOf,
  type Tuner,
} from "../../kernels/mod.ts";
import { pause } from "../async.ts";
import { TuningFile, type TuningOptions } from "./tuning_file.ts";

/** What tuning needs of a loaded model. */
export interface TunedModel {
  /** Requests that run or wait. */
  readonly load: number;
  /** Runs work between two steps. */
  between<T>(work: () => Promise<T>): Promise<T>;
  /** Makes ready what was chosen. */
  prepare(): Promise<void>;
}

/** Seconds that tuning may take after one load. */
const MOST_SECONDS = 5;

/** Milliseconds until it is looked again whether a busy model is idle. */
const LOOK_INTERVAL = 250;

/** The tuning of one loaded model. */
export class KernelTuning {
  readonly #tuner: Tuner;
  readonly #file: TuningFile;
  readonly #options: TuningOptions;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  private constructor(tuner: Tuner, options: TuningOptions) {
    this.#tuner = tuner;
    this.#file = new TuningFile(tuner.identity, options);
    this.#options = options;
  }

  /** The tuning of a device; undefined where it cannot be tuned, or is not to be. */
  static of({ tuner }: Device, options: TuningOptions | undefined): KernelTuning | undefined {
    return tuner?.canTime && options ? new KernelTuning(tuner, options) : undefined;
  }

  /** Takes over what was found before. Call it once operations are bound, and before they are ready. */
  async restore(): Promise<void> {
    const { kernels } = await this.#file.read();
    await this.#tuner.restore(kernels);
  }

  /** Tunes what is not tuned yet, whenever the model is idle. */
  start(model: TunedModel): void {
    if (this.#tuner.software && !this.#options.software) return;
    this.#running ??= this.#run(model).catch((error) => {
      // A device that fails here fails its model too, which tells. Nothing else depends on this.
      this.#options.warn?.(
        `Kernels are not tuned: ${error instanceof Error ? error.message : error}`,
      );
    });
  }

  /** Resolves once nothing is tuned any more. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Resolves once all is tuned that there is time for. */
  async finished(): Promise<void> {
    await this.#running;
  }

  async #run(model: TunedModel): Promise<void> {
    const { signal } = this.#stopped;
    const tried = new Set((await this.#file.read()).left);
    let milliseconds = 1000 * (this.#options.seconds ?? MOST_SECONDS);
    let isChanged = false;
    while (milliseconds > 0 && !signal.aborted) {
      // Asked each time: what is chosen for one kernel may bind others.
      const kernel = this.#tuner.pending().find((kernel) => !tried.has(keyOf(kernel)));
      if (!kernel) break;
      if (model.load > 0) {
        await pause(LOOK_INTERVAL, signal);
        continue;
      }
      const started = performance.now();
      const tuned = await this.#tune(kernel, model);
      milliseconds -= performance.now() - started;
      if (tuned === "called off") continue;
      tried.add(keyOf(kernel));
      if (tuned && tuned.chosen !== tuned.trials[0]?.name) isChanged = true;
    }
    if (isChanged && !signal.aborted) await model.between(() => model.prepare());
  }

  /**
   * Tunes a kernel between two steps. While it does so the file names the kernel, so that one that takes
   * the device down is not tuned again. Resolves with undefined for a kernel that cannot be tuned.
   */
  async #tune(kernel: KernelCase, model: TunedModel) {
    const key = keyOf(kernel);
    const { signal } = this.#stopped;
    await this.#file.change((kept) => kept.trying = key);
    try {
      const isUnwanted = () => signal.aborted || model.load > 0;
      const tuned = await model.between(() => this.#tuner.tune(kernel, isUnwanted));
      if (tuned) await this.#file.add(tuned);
      else await this.#file.forget(key);
      return tuned ?? "called off";
    } catch (error) {
      // A device may have room at another time, and a model that is closed took nothing down.
      const isFault = error instanceof GpuError && !(error instanceof GpuMemoryError);
      if (!isFault) await this.#file.forget(key);
      if (!isFault || error instanceof DeviceLostError) throw error;
    }
  }
}
