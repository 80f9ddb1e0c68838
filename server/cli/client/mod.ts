// What the commands may use of the client: the way to a server, and the types of its answers.

export type {
  CacheContents,
  OllamaDetails,
  OllamaMessage,
  OllamaMetrics,
  OllamaProcess,
  OllamaRecord,
  OllamaTag,
  OllamaToolCall,
  Version,
} from "../../http/mod.ts";
export {
  type Api,
  ApiError,
  ConnectionError,
  linesOf,
  refusalOf,
  type RequestOptions,
  type ShowAnswer,
} from "./api.ts";
export { type FormFile, formRequest } from "./multipart.ts";
export { connect, type ConnectOptions, findLocalModel } from "./connect.ts";
