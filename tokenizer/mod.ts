// The tokenizer layer: vocabularies of GGUF files, and chat templates. It imports no other layer,
// and knows no files, models or devices.

export { createChatTemplate } from "./template/chat_template.ts";
export type {
  ChatTemplate,
  ChatTemplateInput,
  ChatTemplateOptions,
} from "./template/chat_template.ts";
export { ChatTemplateError, TokenizerError } from "./errors.ts";
export type { ChatTemplateFault } from "./errors.ts";
export * from "./json/mod.ts";
export type { Metadata, MetadataValue } from "./vocabulary/metadata.ts";
export * from "./text/render_budget.ts";
export type { StreamDecoder } from "./stream_decoder.ts";
export * from "./text/tainted_text.ts";
export { createTokenizer } from "./tokenizer.ts";
export type { DecodeOptions, EncodeOptions, StreamDecoderOptions, Tokenizer } from "./tokenizer.ts";
