// Looking into a model while it runs, and changing what it computes.

export {
  type ControlVector,
  type ControlVectorMethod,
  makeControlVector,
  readControlVector,
  steer,
  type SteeringOptions,
  type TextPair,
  writeControlVector,
} from "./control_vector.ts";
export { Hooks } from "./hooks.ts";
export {
  type LensPlace,
  type LensToken,
  type LogitLens,
  logitLens,
  type LogitLensRequest,
} from "./logit_lens.ts";
export { POINTS } from "./points.ts";
