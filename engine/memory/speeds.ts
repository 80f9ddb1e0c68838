// Whether a GPU is worth a split: what a device computes for a token is bound by how fast it reads its
// weights. Measured once per process, and only where a model does not fit the GPU.

import { measureReadBandwidth } from "../load/mod.ts";
import { gpuProfile } from "./gpu_profile.ts";

let faster: Promise<boolean> | undefined;

/** Whether the device of loads reads its memory faster than the CPU beside it does. */
export function isGpuFaster(): Promise<boolean> {
  return faster ??= compare();
}

async function compare(): Promise<boolean> {
  // A driver on the CPU is only taken where it is asked for, and then it is meant.
  if ((await gpuProfile()).capabilities.software) return true;
  const cpu = await measureReadBandwidth({ kind: "cpu" });
  return await measureReadBandwidth() > cpu;
}
