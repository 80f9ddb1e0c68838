// Which device computes: opens it, or a dry one of the same kind, which only counts.

import type { Device, DeviceProfile } from "./device.ts";
import { type DeviceOptions, type GpuProfile, WebGpuDevice } from "./webgpu/mod.ts";

export type { DeviceOptions };

/** Opens the best device. Errors: GpuError where there is none. */
export function openDevice(options: DeviceOptions = {}): Promise<Device> {
  return WebGpuDevice.open(options);
}

/** A device that only counts: a model assembled on it shows what it would take of that device. */
export function openDryDevice(profile: DeviceProfile): Device {
  return WebGpuDevice.dry(profile as GpuProfile);
}
