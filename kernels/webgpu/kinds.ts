// The kinds of devices on WebGPU.

import type { DeviceMaker, DeviceSettings } from "../device.ts";
import { WebGpuDevice } from "./device.ts";
import type { GpuProfile } from "./gpu.ts";
import { implementation } from "./platform.ts";

/** The runtime's own WebGPU. */
export const webgpu: DeviceMaker = webGpu("webgpu");

/** Dawn's; see dawn.ts. */
export const dawn: DeviceMaker = webGpu("dawn");

/** Devices of the runtime's WebGPU, or of Dawn, unless the options bring another. */
function webGpu(kind: "webgpu" | "dawn"): DeviceMaker {
  const open = async (options: DeviceSettings): Promise<WebGpuDevice> => {
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
