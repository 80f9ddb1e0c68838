// The CPU's description as a device: number of threads, kind of dot product, size of the memory and
// its bandwidth.

import { aloneBecause } from "../../host/mod.ts";
import type { DeviceProfile, DeviceSettings } from "../device.ts";
import type { DotProduct } from "./dot_product.ts";
import { joinsVectors } from "./engine_features.ts";
import { defaultThreads } from "./threads.ts";

/** How to open a CPU device. Threads: 1 is the host's alone; see {@linkcode defaultThreads}. */
export type CpuOptions = Pick<DeviceSettings, "threads" | "maxBindingSize">;

/** Bytes of the working memory for models: 4 GiB less what the device itself needs. */
const MOST_BYTES = 2 ** 32 - 2 ** 17;

/** The description of a device with these options. */
export function cpuProfile(
  machine: DotProduct,
  { threads = defaultThreads(), maxBindingSize = MOST_BYTES }: CpuOptions,
): DeviceProfile {
  const alone = aloneBecause();
  const named = `${threads} ${threads === 1 ? "thread" : "threads"}` + (alone ? ` (${alone})` : "");
  return {
    platform: { name: "cpu" },
    capabilities: {
      subgroups: false,
      timestamps: false,
      packedDot: true,
      subgroupSize: 0,
      leastSubgroup: 0,
      software: true,
    },
    description: `CPU, ${named}, int8 products: ${machine}${joinsVectors() ? ", 256 bits" : ""}`,
    vendor: 0,
    device: 0,
    maxBindingSize: Math.min(maxBindingSize, MOST_BYTES),
    maxBufferSize: MOST_BYTES,
  };
}

/** Bytes per second at which the host's thread reads an array, the best of three times. */
export function readBandwidth(values: Float32Array): number {
  let [best, sum] = [Infinity, 0];
  for (let run = 0; run < 3; run++) {
    const started = performance.now();
    for (let i = 0; i < values.length; i += 4) sum += values[i]! + values[i + 2]!;
    best = Math.min(best, performance.now() - started);
  }
  // The sum, which is zero, is used, so that the engine cannot leave out the reads.
  return (values.byteLength + sum) / best * 1000;
}
