// Image encoders: from preprocessed pixels to the embeddings that a decoder reads.

export { ImageEncoder, type ImageEncoderOptions, loadImageEncoder } from "./encoder.ts";
export { type EncoderHeader, readEncoderHeader } from "./header.ts";
export { PROJECTOR_TYPES } from "./encoders/registry.ts";
export type { ImageSize } from "./patch_grid.ts";
