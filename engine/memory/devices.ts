// The devices that loads use: their profiles, and whether the GPU is the faster one. Both are found out
// once per process.

import { type DeviceProfile, readDeviceProfile } from "../../kernels/mod.ts";
import { measureReadBandwidth } from "../load/mod.ts";

/** The devices of loads: one for layers on the GPU, and one for the other layers. */
export interface DeviceProfiles {
  gpu: DeviceProfile;
  /** Missing if the first one is the CPU, which then has all layers. */
  cpu?: DeviceProfile;
}

let profile: Promise<DeviceProfile> | undefined;

/** Capabilities and limits of the device that loads use. Errors: GpuError if there is none. */
export function gpuProfile(): Promise<DeviceProfile> {
  const known = profile ??= readDeviceProfile();
  // A failure is not remembered, because the GPU may be there at the next attempt.
  known.catch(() => profile = undefined);
  return known;
}

/** That device, and the CPU beside it. Errors: GpuError if there is no device. */
export async function deviceProfiles(): Promise<DeviceProfiles> {
  const gpu = await gpuProfile();
  if (gpu.platform.name === "cpu") return { gpu };
  return { gpu, cpu: await readDeviceProfile({ kind: "cpu" }) };
}

let faster: Promise<boolean> | undefined;

/**
 * Whether the device of loads reads its memory faster than the CPU beside it, which bounds the speed of
 * decoding: if not, splitting a model between the two is not worthwhile. Measured on the first call, so
 * only if a model does not fit the GPU.
 */
export function isGpuFaster(): Promise<boolean> {
  return faster ??= compare();
}

async function compare(): Promise<boolean> {
  // A software driver is only used if the user asked for it, so it gets its layers.
  if ((await gpuProfile()).capabilities.software) return true;
  const cpu = await measureReadBandwidth({ kind: "cpu" });
  return await measureReadBandwidth() > cpu;
}
