// Tunes the device of this machine anew, without a model: the kernels of all models that were loaded on it.

import {
  chooseDevice,
  type DeviceOptions,
  keyOf,
  openDevice,
  type TunedKernel,
} from "../../kernels/mod.ts";
import { TuningFile, type TuningOptions } from "./tuning_file.ts";
import { usualKernels } from "./usual_kernels.ts";

/** How the device of this machine was tuned. */
export interface DeviceTuning {
  /** Name of the device, for people. */
  readonly description: string;
  /** Why nothing was tuned; missing where something was. */
  readonly reason?: string;
  /** Whether the kernels are those of well-known models, because no model was loaded here before. */
  readonly isUsual: boolean;
  readonly kernels: readonly TunedKernel[];
}

/**
 * Tunes the kernels that its file names again, or if there are none those of well-known models, and
 * keeps what it finds for models that are loaded later.
 *
 * @param onKernel told of each kernel once it is tuned
 * @throws {GpuError} if the device fails
 */
export async function tuneDevice(
  options: Pick<TuningOptions, "folder" | "warn"> & { device?: DeviceOptions },
  onKernel: (tuned: TunedKernel, done: number, all: number) => void = () => {},
): Promise<DeviceTuning> {
  const { kind } = await chooseDevice(options.device);
  using device = await openDevice({ ...options.device, kind });
  const { profile: { description, capabilities }, tuner } = device;
  const nothing = { description, isUsual: false, kernels: [] };
  if (!tuner?.canTime) {
    const reason = kind === "cpu"
      ? "models run on the CPU, whose kernels have no choices"
      : "the GPU tells no time of kernels (timestamp-query), so they are chosen by a table";
    return { ...nothing, reason };
  }
  const file = new TuningFile(tuner.identity, options);
  const { kernels: kept } = await file.read();
  const isUsual = kept.length === 0;
  const all = isUsual ? usualKernels(capabilities) : kept.map(({ of }) => of);
  const kernels: TunedKernel[] = [];
  for (const kernel of all) {
    await file.change((contents) => contents.trying = keyOf(kernel));
    const tuned = await tuner.tune(kernel);
    if (!tuned) continue;
    await file.add(tuned);
    kernels.push(tuned);
    onKernel(tuned, kernels.length, all.length);
  }
  return { description, isUsual, kernels };
}
