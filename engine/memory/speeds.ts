// Whether splitting a model between GPU and CPU is worthwhile: whether the GPU reads its memory
// faster, which bounds the speed of decoding. Measured once per process, and only if a model does
// not fit the GPU.

import { measureReadBandwidth } from "../load/mod.ts";
import { gpuProfile } from "./gpu_profile.ts";

let faster: Promise<boolean> | undefined;

/** Whether the device of loads reads its memory faster than the CPU beside it. */
export function isGpuFaster(): Promise<boolean> {
  return faster ??= compare();
}

async function compare(): Promise<boolean> {
  // A software driver is only used if the user asked for it, so it gets its layers.
  if ((await gpuProfile()).capabilities.software) return true;
  const cpu = await measureReadBandwidth({ kind: "cpu" });
  return await measureReadBandwidth() > cpu;
}
