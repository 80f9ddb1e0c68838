// What encoders of images and of sounds have in common: their blocks, weights that are loaded once for
// networks of several sizes, and networks in parts.

export type { Rotations } from "./attention.ts";
export { type EncoderBlockConfig, encoderNorm, transform } from "./block.ts";
export { DividedNetwork, padColumns } from "./divided_network.ts";
export { type Between, MediaCache } from "./media_cache.ts";
export { loadEncoderFeedForward } from "./feed_forward.ts";
export type { EncoderOptions } from "./options.ts";
export { loadProjection, Projection, shifted } from "./projection.ts";
export { EncoderWeights } from "./weights.ts";
export { Windows, type WindowSizes } from "./windows.ts";
