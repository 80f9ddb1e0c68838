// The devices that loads use, looked at once per process.

import { type DeviceProfile, readDeviceProfile } from "../../kernels/mod.ts";

/** The devices of loads: one for what is on the GPU, and one for what is not. */
export interface DeviceProfiles {
  gpu: DeviceProfile;
  /** Missing where the first is the CPU's: then all of a model is on it. */
  cpu?: DeviceProfile;
}

let profile: Promise<DeviceProfile> | undefined;

/** What the device that loads use can do, and its limits. Errors: GpuError where there is none. */
export function gpuProfile(): Promise<DeviceProfile> {
  const known = profile ??= readDeviceProfile();
  // A GPU that is not there now may be there later.
  known.catch(() => profile = undefined);
  return known;
}

/** That device, and the CPU beside it. Errors: GpuError where there is none. */
export async function deviceProfiles(): Promise<DeviceProfiles> {
  const gpu = await gpuProfile();
  if (gpu.platform.name === "cpu") return { gpu };
  return { gpu, cpu: await readDeviceProfile({ kind: "cpu" }) };
}
