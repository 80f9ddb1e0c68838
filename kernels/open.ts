// Opens the device that choice.ts chooses, or a dry one of the same kind, which only counts memory.

import { chooseDevice, type DeviceKind, type DeviceOptions } from "./choice.ts";
import type { Device, DeviceMaker, DeviceProfile } from "./device.ts";
import * as devices from "./devices.ts";

/** Opens a device. Errors: GpuError if there is none of the kind. */
export async function openDevice(options: DeviceOptions = {}): Promise<Device> {
  const { kind } = await chooseDevice(options);
  return await devices[kind].open(options);
}

/**
 * The profile of the device that {@linkcode openDevice} would open. A GPU is opened for this, since
 * an adapter may not show all that its devices can do.
 */
export async function readDeviceProfile(options: DeviceOptions = {}): Promise<DeviceProfile> {
  const { kind } = await chooseDevice(options);
  return await devices[kind].profileOf(options);
}

/**
 * A dry device, which only counts: a model assembled on it shows how much memory it would take on a
 * device of that profile.
 */
export function openDryDevice(profile: DeviceProfile): Device {
  const { name } = profile.platform; // a kind, or an implementation of WebGPU
  const maker: DeviceMaker = name in devices ? devices[name as DeviceKind] : devices.webgpu;
  return maker.dry(profile);
}
