// Opens the device that choice.ts chooses, or a dry one of the same kind, which only counts memory.

import { chooseDevice } from "./choice.ts";
import { CpuDevice } from "./cpu/device.ts";
import type { Device, DeviceOptions, DeviceProfile } from "./device.ts";
import { type GpuProfile, implementation, WebGpuDevice } from "./webgpu/mod.ts";

/** Opens a device. Errors: GpuError if there is none of the kind. */
export async function openDevice(options: DeviceOptions = {}): Promise<Device> {
  const { kind } = await chooseDevice(options);
  return kind === "cpu" ? await CpuDevice.open(options) : await openWebGpu(kind, options);
}

async function openWebGpu(
  kind: "webgpu" | "dawn",
  options: DeviceOptions,
): Promise<WebGpuDevice> {
  const gpu = options.gpu ?? await implementation(kind);
  return await WebGpuDevice.open(gpu ? { ...options, gpu } : options);
}

/**
 * The profile of the device that {@linkcode openDevice} would open. A GPU is opened for this, since
 * an adapter may not show all that its devices can do.
 */
export async function readDeviceProfile(options: DeviceOptions = {}): Promise<DeviceProfile> {
  const { kind } = await chooseDevice(options);
  if (kind === "cpu") return CpuDevice.profileOf(options);
  using device = await openWebGpu(kind, options);
  return device.profile;
}

/**
 * A dry device, which only counts: a model assembled on it shows how much memory it would take on a
 * device of that profile.
 */
export function openDryDevice(profile: DeviceProfile): Device {
  return profile.platform.name === "cpu"
    ? CpuDevice.dry(profile)
    : WebGpuDevice.dry(profile as GpuProfile);
}
