// What the command line may use of the HTTP server: a server made from settings, the port that it
// listens on, its shutdown, and the types of what Ollama's API answers.

export type { EmbedAnswer } from "./api/embed/answer_schema.ts";
export type {
  OllamaDetails,
  OllamaProcess,
  OllamaProcesses,
  OllamaProgress,
  OllamaShow,
  OllamaTag,
  OllamaTags,
} from "./api/models/answer_schema.ts";
export type {
  ChatRecord,
  GenerateRecord,
  OllamaMetrics,
  OllamaRecord,
  OllamaToolCall,
} from "./api/ollama/answer_schema.ts";
export type { OllamaMessage } from "./api/ollama/schema.ts";
export type { CacheContents, Version } from "./api/service/answer_schema.ts";
export { isUrgent } from "./api/service/route.ts";
export { createApp } from "./app.ts";
export type { AppOptions } from "./app_types.ts";
export { assemble, type AssembleDependencies, type ServerParts } from "./assemble.ts";
export { type Handler, HttpServer } from "./connection/mod.ts";
export { Drain } from "./drain.ts";
export { Telemetry } from "./metrics/telemetry.ts";
export { Preload } from "./preload.ts";
