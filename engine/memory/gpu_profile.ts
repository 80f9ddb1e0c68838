// The device that loads use, looked at once per process.

import { type DeviceProfile, readDeviceProfile } from "../../kernels/mod.ts";

let profile: Promise<DeviceProfile> | undefined;

/** What that device can do, and its limits. Errors: GpuError where there is none. */
export function gpuProfile(): Promise<DeviceProfile> {
  const known = profile ??= readDeviceProfile();
  // A GPU that is not there now may be there later.
  known.catch(() => profile = undefined);
  return known;
}
