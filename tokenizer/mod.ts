// The tokenizer layer: vocabularies of GGUF files and chat templates. A leaf: it knows no files,
// no models and no GPU.

export { createChatTemplate } from "./template/chat_template.ts";
export type {
  ChatTemplate,
  ChatTemplateInput,
  ChatTemplateOptions,
} from "./template/chat_template.ts";
export { ChatTemplateError, TokenizerError } from "./errors.ts";
export type { ChatTemplateFault } from "./errors.ts";
export type { Metadata, MetadataValue } from "./vocabulary/metadata.ts";
export * from "./text/render_budget.ts";
export type { StreamDecoder } from "./stream_decoder.ts";
export * from "./text/tainted_text.ts";
export { createTokenizer } from "./tokenizer.ts";
export type { DecodeOptions, EncodeOptions, StreamDecoderOptions, Tokenizer } from "./tokenizer.ts";
