// The types of AI SDK's specification, version 4: what its functions ask of models. Types alone, so that
// nothing of it is loaded or shipped. Sources: @ai-sdk/provider.

export type {
  EmbeddingModelV4,
  EmbeddingModelV4CallOptions,
  EmbeddingModelV4Result,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4Usage,
  ProviderV4,
  RerankingModelV4,
  RerankingModelV4CallOptions,
  RerankingModelV4Result,
  SharedV4FileData,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "npm:@ai-sdk/provider@4.0.38";
