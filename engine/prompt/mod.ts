// What a model reads: texts, tokens and images in order, how long they are and what of them fits the
// window. Renders no templates.

export { findFillInMiddleTokens } from "./fill_in_middle.ts";
export { IMAGE_PLACE, ImageMarks } from "./image_marks.ts";
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
