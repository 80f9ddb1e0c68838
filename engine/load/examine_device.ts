// The GPU of this machine looked at for people who ask whether it will do: what it is, whether it
// computes right, how fast it reads. Loads no model.

import {
  checkProduct,
  type DeviceOptions,
  type DeviceProfile,
  openDevice,
  type ProductCheck,
} from "../../kernels/mod.ts";

/** What was found. */
export interface GpuExamination {
  profile: DeviceProfile;
  /** A small product beside the same on the CPU. */
  product: ProductCheck;
}

/**
 * Opens the GPU that models would be loaded on and tries it.
 *
 * @throws {GpuError} if there is none, or its driver fails
 */
export async function examineGpu(options: DeviceOptions = {}): Promise<GpuExamination> {
  using device = await openDevice(options);
  return { profile: device.profile, product: await checkProduct(device) };
}

/**
 * Bytes per second that a plain read of that GPU's memory reaches. Decoding reads all weights once per
 * token, so that it is never faster than this.
 *
 * @throws {GpuError} if there is none, or its driver fails
 */
export async function measureReadBandwidth(options: DeviceOptions = {}): Promise<number> {
  using device = await openDevice(options);
  return await device.scoped("measure the bandwidth", () => device.readBandwidth());
}
