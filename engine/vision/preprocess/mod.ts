// Preparing pictures for the encoder of a vision model, as its file and its family ask.

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
