// When a device is proved, and what follows: at the first load of a model on it, and again for another
// driver, runtime or version. Where the proof finds faults, kernels that are wrong in one way of computing
// them are computed in another, and the proof is done once more. What is left is told, and kept.

import type { Device } from "../../kernels/mod.ts";
import { type DeviceFault, ProofFile, type ProofOptions } from "../tuning/mod.ts";
import type { Proof } from "./judgement.ts";

/** A model to prove its device by. */
export interface ProvableModel {
  /** The same for models that have the same operations. */
  readonly key: string;
  /** Its name in its file, for people. */
  readonly name: string;
  prove(): Promise<Proof>;
  /** Makes ready what was chosen for its kernels. */
  prepare(): Promise<void>;
}

/** How often a proof may end with its process or its device before the device counts as wrong. */
const MOST_TRIES = 2;

const NEVER_ENDED: DeviceFault = {
  what: "the comparison with the CPU",
  how: "the device or the process failed in the midst of it, twice",
};

/** The proof of a model's device. */
export class DeviceProof {
  readonly #device: Device;
  readonly #file: ProofFile;
  readonly #isAnew: boolean;

  private constructor(device: Device, identity: string, options: ProofOptions) {
    this.#device = device;
    this.#file = new ProofFile(identity, options);
    this.#isAnew = options.anew ?? false;
  }

  /** The proof of a device; undefined for the CPU, and where none is wanted. */
  static of(device: Device, options: ProofOptions | undefined): DeviceProof | undefined {
    const { identity } = device;
    if (identity === undefined || !options) return undefined;
    return new DeviceProof(device, identity, options);
  }

  /** Takes over the kernels that were mended before. Call it once operations are bound. */
  async restore(): Promise<void> {
    if (this.#isAnew) return;
    const { kernels } = await this.#file.read();
    if (kernels.length > 0) await this.#device.tuner?.restore(kernels);
  }

  /**
   * What the device computes wrongly of a model; nothing if it is right. Nothing else may use the device
   * meanwhile. Errors: those of the proof.
   */
  async faultsOf(model: ProvableModel): Promise<readonly DeviceFault[]> {
    const { key, name } = model;
    const { models, begun } = await this.#file.read();
    const known = models[key];
    if (known && !this.#isAnew) return known.faults;
    if ((begun[key] ?? 0) >= MOST_TRIES && !this.#isAnew) return [NEVER_ENDED];
    await this.#file.begin(key);
    let proof = await model.prove();
    if (proof.faults.length > 0) proof = await this.#mend(model) ?? proof;
    await this.#file.end(key, { ...proof, name });
    return proof.faults;
  }

  /** The proof after kernels were mended; undefined if none could be. */
  async #mend(model: ProvableModel): Promise<Proof | undefined> {
    const mended = await this.#device.tuner?.mend() ?? [];
    if (mended.length === 0) return undefined;
    await model.prepare();
    const proof = await model.prove();
    if (proof.faults.length === 0) await this.#file.add(mended);
    return proof;
  }
}
