// The GPU that loads use, looked at once per process: a device is opened and closed again, since an
// adapter may hide what its devices can do.

import { type DeviceProfile, openDevice } from "../../kernels/mod.ts";

let profile: Promise<DeviceProfile> | undefined;

/** What that GPU can do, and its limits. Errors: GpuError where there is none. */
export function gpuProfile(): Promise<DeviceProfile> {
  const known = profile ??= readProfile();
  // A GPU that is not there now may be there later.
  known.catch(() => profile = undefined);
  return known;
}

async function readProfile(): Promise<DeviceProfile> {
  using device = await openDevice();
  return device.profile;
}
