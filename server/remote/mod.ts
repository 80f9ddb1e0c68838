// Models that run on other servers, with Ollama's API or OpenAI's.

export type { RemoteApi } from "./dialect.ts";
export { RemoteError } from "./errors.ts";
export { openRemoteModel, RemoteModels, type RemoteOptions } from "./models.ts";
export { cloudModelOf, withoutCloud } from "./dialect.ts";
