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
import { ProofFile, type ProofOptions, type ProvedModel } from "../tuning/mod.ts";

/** The result of an examination. */
export interface DeviceExamination {
  /** The chosen device, and why it was chosen. */
  choice: DeviceChoice;
  profile: DeviceProfile;
  /** A small matrix product, compared with plain loops. */
  product: ProductCheck;
  /** What was proved of it by models that were loaded on it. */
  proved: readonly ProvedModel[];
}

/**
 * Opens the device that models would be loaded on and checks it.
 *
 * @param proof where it is kept what was proved of devices; default: nowhere
 * @throws {GpuError} if there is none, or its driver fails
 */
export async function examineDevice(
  options: DeviceOptions = {},
  proof?: ProofOptions,
): Promise<DeviceExamination> {
  const choice = await chooseDevice(options);
  using device = await openDevice({ ...options, kind: choice.kind });
  const { profile, identity } = device;
  const kept = proof && identity !== undefined && await new ProofFile(identity, proof).read();
  return {
    choice,
    profile,
    product: await checkProduct(device),
    proved: kept ? Object.values(kept.models) : [],
  };
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
