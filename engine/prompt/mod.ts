// The input of a model: texts, tokens and images in order, their lengths, and the part that fits
// the window. Templates are not rendered here.

export { findFillInMiddleTokens } from "./fill_in_middle.ts";
export { AUDIO_PLACEHOLDER, IMAGE_PLACEHOLDER, MediaMarks } from "./media_marks.ts";
export {
  checkTokens,
  encodePrompt,
  type Prompt,
  type PromptContext,
  withWindow,
} from "./prompt.ts";
export {
  type MediaData,
  type MediaItem,
  type MediaLimits,
  type MediaRun,
  mropePosition,
  type PromptItem,
  promptLength,
  type PromptMedia,
  PromptRuns,
  type ReadMedia,
  textTokens,
  type TokenKey,
  tokensOf,
} from "./prompt_media.ts";
