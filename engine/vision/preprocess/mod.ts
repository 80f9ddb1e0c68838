// Preprocessing of pictures for the encoder of a vision model, according to its file and its
// family.

export {
  type PictureFacts,
  type PreprocessingConfig,
  readMerge,
  readPreprocessing,
  type TokenLimits,
} from "./config.ts";
export {
  type Layout,
  layOut,
  mostPatches,
  normalize,
  type PreparedImage,
  type PreparedImages,
  preprocess,
} from "./preprocess.ts";
