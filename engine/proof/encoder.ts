// Proves a device by an encoder of images that was loaded on it: one step for a small image, on it and on
// the CPU, where one layer of each kind has its weights.

import { type Device, openDevice } from "../../kernels/mod.ts";
import type { StepOperation, StepShape } from "../nn/mod.ts";
import { CapturedSteps } from "./captured_steps.ts";
import { Judgement, type Proof } from "./judgement.ts";
import { layersToProve, operationsOf } from "./layers.ts";
import { placeSome, type TwinPlacement } from "./twin.ts";
import { TwinSteps } from "./twin_steps.ts";

/** The step that encodes an image, whose pixels were written. */
export interface EncoderStep {
  readonly device: Device;
  readonly operations: readonly StepOperation[];
  readonly shape: StepShape;
}

/**
 * Proves a device. Nothing may be encoded meanwhile.
 *
 * @param openTwin the same step of the encoder, loaded on another device
 * @throws {GpuError} if the device fails; the errors of loading the encoder on the CPU
 */
export async function proveEncoder(
  { device, operations: all, shape }: EncoderStep,
  openTwin: (device: Device, where: TwinPlacement) => Promise<EncoderStep & Disposable>,
): Promise<Proof> {
  const started = performance.now();
  const layers = layersToProve(all, device);
  using cpu = await openDevice({ kind: "cpu" });
  using twin = await openTwin(cpu, placeSome(layers));
  using captured = new CapturedSteps(device, all, operationsOf(all, layers));
  const judged = new TwinSteps(twin.device, operationsOf(twin.operations, layers));
  const judgement = new Judgement();
  judgement.add(await judged.differences(twin.shape, await captured.run(shape)), shape.rows);
  return judgement.proof(performance.now() - started);
}
