// Vision: what files tell about a model's image encoder, how it is loaded, and how a picture
// becomes rows of embeddings in a prompt.

export { type EncoderHeader, readEncoderHeader, viewAsDecoder } from "./files/encoder_file.ts";
export { ImageEncoder, type ImageEncoderOptions, loadImageEncoder } from "./encoder.ts";
export { ImageError } from "./image/mod.ts";
export { ImageReader } from "./reader/image_reader.ts";
export { hasBidirectionalImages } from "./families/mod.ts";
export type { ImageSize } from "./network/patch_grid.ts";
export {
  findEncoder,
  type LoadedVision,
  loadVision,
  provedEncoder,
  usableProjector,
  visionWarnings,
} from "./load_vision.ts";
export { readVision, type Vision, visionFault } from "./vision.ts";
