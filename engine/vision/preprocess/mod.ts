// Preprocessing of pictures for the encoder of a vision model, according to its file and its
// family.

export {
  type PictureFacts,
  type PreprocessingConfig,
  readMerge,
  readPreprocessing,
  type TokenLimits,
} from "./config.ts";
export { normalize } from "./normalize.ts";
export type { Layout, PreparedImage, PreparedImages } from "./prepared.ts";
export { layOut, mostPatches, preprocess } from "./preprocess.ts";
