// Opens the device that choice.ts chooses, or a dry one of the same kind, which only counts memory. A
// new kind of device is a folder of its own, a name in DEVICE_KINDS and a line of the table here.

import { chooseDevice } from "./choice.ts";
import { CpuDevice } from "./cpu/device.ts";
import type { Device, DeviceKind, DeviceOptions, DeviceProfile } from "./device.ts";
import { type GpuProfile, implementation, WebGpuDevice } from "./webgpu/mod.ts";

/** What devices of one kind are made by. */
interface DeviceMaker {
  open(options: DeviceOptions): Promise<Device>;
  /** The profile of the device that would be opened. */
  profileOf(options: DeviceOptions): DeviceProfile | Promise<DeviceProfile>;
  dry(profile: DeviceProfile): Device;
}

const MAKERS: Readonly<Record<DeviceKind, DeviceMaker>> = {
  webgpu: webGpu("webgpu"),
  dawn: webGpu("dawn"),
  cpu: CpuDevice,
};

/** Opens a device. Errors: GpuError if there is none of the kind. */
export async function openDevice(options: DeviceOptions = {}): Promise<Device> {
  const { kind } = await chooseDevice(options);
  return await MAKERS[kind].open(options);
}

/**
 * The profile of the device that {@linkcode openDevice} would open. A GPU is opened for this, since
 * an adapter may not show all that its devices can do.
 */
export async function readDeviceProfile(options: DeviceOptions = {}): Promise<DeviceProfile> {
  const { kind } = await chooseDevice(options);
  return await MAKERS[kind].profileOf(options);
}

/**
 * A dry device, which only counts: a model assembled on it shows how much memory it would take on a
 * device of that profile.
 */
export function openDryDevice(profile: DeviceProfile): Device {
  const { name } = profile.platform; // a kind, or an implementation of WebGPU
  return (name in MAKERS ? MAKERS[name as DeviceKind] : MAKERS.webgpu).dry(profile);
}

/** Devices of the runtime's WebGPU, or of Dawn, unless the options bring another. */
function webGpu(kind: "webgpu" | "dawn"): DeviceMaker {
  const open = async (options: DeviceOptions): Promise<WebGpuDevice> => {
    const gpu = options.gpu ?? await implementation(kind);
    return await WebGpuDevice.open(gpu ? { ...options, gpu } : options);
  };
  return {
    open,
    async profileOf(options) {
      using device = await open(options);
      return device.profile;
    },
    dry: (profile) => WebGpuDevice.dry(profile as GpuProfile),
  };
}
