// Proves the device of this machine by a model, for people who ask: whatever is kept is found anew.

import type { ProofOptions } from "../tuning/mod.ts";
import { openAndProve, readModel } from "./load_model.ts";
import type { LocalLoadOptions } from "./model.ts";
import type { DeviceRefusal } from "../types/mod.ts";

/** What a device proved by a model. */
export interface DeviceVerdict {
  /** Name of the device, and of its driver. */
  readonly device: string;
  /** Whether there was anything to prove: the CPU is what other devices are compared with. */
  readonly isCompared: boolean;
  /** Milliseconds that it took, the load included. */
  readonly milliseconds: number;
  /** Missing: it computes the model right. */
  readonly refusal?: DeviceRefusal;
}

/** The window and the sequences of a load for a proof, which takes little of both. */
const SIZES = { contextLength: 512, maxSequences: 4 };

/**
 * Loads a model, proves its device by it and closes it.
 *
 * @param path of the GGUF file
 * @throws the errors of loadModel()
 */
export async function proveModel(
  path: string | URL,
  options: LocalLoadOptions & { proof: ProofOptions },
): Promise<DeviceVerdict> {
  const started = performance.now();
  const proof = { ...options.proof, anew: true };
  const asked = { ...SIZES, ...options, proof };
  const { model, refusal } = await openAndProve(await readModel(path, asked), asked);
  await model.close();
  const { device, isCompared } = model;
  const milliseconds = performance.now() - started;
  return { device, isCompared, milliseconds, ...(refusal && { refusal }) };
}
