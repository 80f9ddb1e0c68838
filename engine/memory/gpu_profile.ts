// The profiles of the devices that loads use, read once per process.

import { type DeviceProfile, readDeviceProfile } from "../../kernels/mod.ts";

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
