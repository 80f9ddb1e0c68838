// Examines the device that computes on this machine, for people who ask whether it will do: which
// one it is and why, whether it computes correctly, and how fast it reads. Loads no model.

import {
  checkProduct,
  chooseDevice,
  type DeviceChoice,
  type DeviceOptions,
  type DeviceProfile,
  openDevice,
  type ProductCheck,
} from "../../kernels/mod.ts";

/** The result of an examination. */
export interface DeviceExamination {
  /** The chosen device, and why it was chosen. */
  choice: DeviceChoice;
  profile: DeviceProfile;
  /** A small matrix product, compared with plain loops. */
  product: ProductCheck;
}

/**
 * Opens the device that models would be loaded on and checks it.
 *
 * @throws {GpuError} if there is none, or its driver fails
 */
export async function examineDevice(options: DeviceOptions = {}): Promise<DeviceExamination> {
  const choice = await chooseDevice(options);
  using device = await openDevice({ ...options, kind: choice.kind });
  return { choice, profile: device.profile, product: await checkProduct(device) };
}

/**
 * Bytes per second that a plain read of the device's memory reaches. Decoding reads all weights
 * once per token, so this bounds its speed.
 *
 * @throws {GpuError} if there is none, or its driver fails
 */
export async function measureReadBandwidth(options: DeviceOptions = {}): Promise<number> {
  using device = await openDevice(options);
  return await device.scoped("measure the bandwidth", () => device.readBandwidth());
}
