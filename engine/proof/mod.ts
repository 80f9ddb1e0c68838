// Proving that a device computes a model right, before it answers.

export { DeviceProof } from "./device_proof.ts";
export { type EncoderStep, proveEncoder } from "./encoder.ts";
export type { Proof } from "./judgement.ts";
export { type ProvedPart, proveParts } from "./parts.ts";
export { prove } from "./prove.ts";
export type { BuildTwin, TwinOptions } from "./twin.ts";
