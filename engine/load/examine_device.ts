// The device that computes on this machine, looked at for people who ask whether it will do: which it
// is and why, whether it computes right, how fast it reads. Loads no model.

import {
  checkProduct,
  chooseDevice,
  type DeviceChoice,
  type DeviceOptions,
  type DeviceProfile,
  openDevice,
  type ProductCheck,
} from "../../kernels/mod.ts";

/** What was found. */
export interface DeviceExamination {
  /** Which device it is, and why. */
  choice: DeviceChoice;
  profile: DeviceProfile;
  /** A small product beside the same by plain loops. */
  product: ProductCheck;
}

/**
 * Opens the device that models would be loaded on and tries it.
 *
 * @throws {GpuError} if there is none, or its driver fails
 */
export async function examineDevice(options: DeviceOptions = {}): Promise<DeviceExamination> {
  const choice = await chooseDevice(options);
  using device = await openDevice({ ...options, kind: choice.kind });
  return { choice, profile: device.profile, product: await checkProduct(device) };
}

/**
 * Bytes per second that a plain read of that device's memory reaches. Decoding reads all weights once per
 * token, so that it is never faster than this.
 *
 * @throws {GpuError} if there is none, or its driver fails
 */
export async function measureReadBandwidth(options: DeviceOptions = {}): Promise<number> {
  using device = await openDevice(options);
  return await device.scoped("measure the bandwidth", () => device.readBandwidth());
}
