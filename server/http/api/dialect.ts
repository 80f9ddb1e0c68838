// Which of the three APIs a request belongs to, and the shape of errors there. Statuses and
// messages are the same in all of them (errors.ts).

import type { ContentfulStatusCode } from "../../dependencies.ts";
import { sentenceOf } from "../errors.ts";
import { json } from "../stream/json.ts";
import type { AnthropicError } from "./anthropic/answer_schema.ts";
import { anthropicError } from "./anthropic/errors.ts";
import { newId } from "./anthropic/events.ts";
import type { OllamaError } from "./ollama/answer_schema.ts";
import type { OpenAiError } from "./openai/answer_schema.ts";
import { openAiError } from "./openai/errors.ts";

/** An API by the vendor whose clients speak it. */
export type Dialect = "ollama" | "openai" | "anthropic";

/** The parts of a request that its dialect follows from. */
interface Addressed {
  /** Path without the query. */
  path: string;
  header(name: string): string | undefined;
}

/** Paths of llama-server, LM Studio and Text Embeddings Inference, whose errors are OpenAI's. */
const LIKE_OPENAI =
  /^\/(?:api\/v1\/.*|(?:props|slots|tokenize|detokenize|apply-template|completion|infill|lora-adapters|embed)\/?)$/;

/** The dialect of a request: by its path, and where two vendors share one, by Anthropic's header. */
export function dialectOf(request: Addressed): Dialect {
  const { path } = request;
  if (LIKE_OPENAI.test(path)) return "openai";
  if (!path.startsWith("/v1/")) return "ollama";
  const isMessages = path === "/v1/messages" || path.startsWith("/v1/messages/");
  const isShared = path === "/v1/models" || path.startsWith("/v1/models/");
  if (isMessages || (isShared && request.header("anthropic-version"))) return "anthropic";
  return "openai";
}

/** The answer that tells of an error. */
export function errorResponse(
  dialect: Dialect,
  status: ContentfulStatusCode,
  error: unknown,
  headers: Record<string, string> = {},
): Response {
  const message = sentenceOf(error);
  if (dialect === "ollama") return json<OllamaError>({ error: message }, status, headers);
  if (dialect === "openai") {
    return json<OpenAiError>(openAiError(status, message, error), status, headers);
  }
  const id = newId("req");
  return json<AnthropicError>(anthropicError(error, id), status, { ...headers, "request-id": id });
}
