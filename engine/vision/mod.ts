// Image encoders: from preprocessed pixels to the embeddings that a decoder reads; and images whole,
// from the bytes of a file to what stands for it in a prompt.

export { viewAsDecoder } from "./all_in_one_decoder.ts";
export { ImageEncoder, type ImageEncoderOptions, loadImageEncoder } from "./encoder.ts";
export { type EncoderHeader, readEncoderHeader } from "./header.ts";
export { ImageError } from "./image/mod.ts";
export type { ReadImage } from "./image_cache.ts";
export { type Between, type ImageData, ImageReader } from "./image_reader.ts";
export { PROJECTOR_TYPES } from "./encoders/registry.ts";
export type { ImageSize } from "./patch_grid.ts";
export { readVision, readVisionOf, type Vision, visionFault } from "./vision.ts";
