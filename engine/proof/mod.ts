// Proving that a device computes a model right, before it answers.

export type { Proof } from "./judgement.ts";
export {
  DeviceProof,
  type EncoderStep,
  prove,
  type ProvedPart,
  proveEncoder,
  proveParts,
} from "./prove.ts";
export type { BuildTwin, TwinOptions } from "./twin.ts";
