// The input of a model: texts, tokens and images in order, their lengths, and the part that fits
// the window. Templates are not rendered here.

export { findFillInMiddleTokens } from "./fill_in_middle.ts";
export { IMAGE_PLACEHOLDER, ImageMarks } from "./image_marks.ts";
export {
  checkTokens,
  encodePrompt,
  type Prompt,
  type PromptContext,
  withWindow,
} from "./prompt.ts";
export {
  type ImageData,
  type ImageLimits,
  type ImageRun,
  mropePosition,
  type PromptImage,
  type PromptItem,
  promptLength,
  PromptRuns,
  type ReadImage,
  textTokens,
  type TokenKey,
  tokensOf,
} from "./prompt_images.ts";
