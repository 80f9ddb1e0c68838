// A body of the Messages API -> the engine's request. Its types have been checked by the schema.

import type { ChatRequest, ModelInfo } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import type { ChatTranslation } from "../count.ts";
import { sessionOfUser } from "../sessions.ts";
import { readWishes } from "../wishes.ts";
import { ThreadError } from "./errors.ts";
import { toToolOptions } from "./tools.ts";
import { asksForCitations } from "./text.ts";
import { toTurns } from "./turns.ts";
import type { AnthropicRequest } from "./schema.ts";

/** The warning of an answer that was to cite its documents. */
const CITATIONS = "citations: none are made; the model sees titles and sources, and may name them";

/** Levels of thinking by the effort that asks for them. */
const LEVELS: Record<string, ChatRequest["think"]> = {
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "max",
};

/**
 * Translates the body of POST /v1/messages.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateMessages(body: AnthropicRequest, info: ModelInfo): ChatTranslation {
  const maxTokens = body.max_tokens ?? 0;
  if (maxTokens <= 0) throw new HttpError(400, "max_tokens is required and must be positive");
  const translation = translateCount(body, info);
  return { ...translation, request: { ...translation.request, maxTokens } };
}

/**
 * Translates the body of POST /v1/messages/count_tokens: the same without a limit.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateCount(body: AnthropicRequest, info: ModelInfo): ChatTranslation {
  if (body.thread) throw new ThreadError();
  if (!body.messages?.length) throw new HttpError(400, "messages is required");
  if (info.isEmbeddingModel) throw new HttpError(400, `"${body.model}" does not support chat`);
  if (body.tools?.length && !info.callsTools) {
    throw new HttpError(400, `"${body.model}" does not support tools`);
  }
  refuseServerTools(body);
  const { engine, think: { think: level, ...variables }, around } = readWishes(body, info, {
    // As Anthropic has it; it cuts nothing off either, unless it is asked to.
    defaults: { temperature: 1, top_p: 1 },
    formats: {
      "output_config.format": body.output_config?.format,
      output_format: body.output_format,
    },
  });
  const session = sessionOfUser((body.metadata as { user_id?: unknown } | null)?.user_id);
  const isCited = body.messages.some(({ content }) => asksForCitations(content));
  const think = info.thinks ? withEffort(level, body) : undefined;
  return {
    request: {
      ...engine,
      ...(body.stop_sequences?.length && { stop: body.stop_sequences }),
      ...toToolOptions(body),
      ...variables,
      ...(think !== undefined && { think }),
      messages: toTurns(body, info),
      // Clients of this API expect an error when the window is exceeded, and shorten the
      // conversation themselves.
      truncate: false,
    },
    ...around,
    ...(session && { session }),
    ...(isCited && { warnings: [...around.warnings ?? [], CITATIONS] }),
  };
}

/** @throws {HttpError} 400 for what Anthropic's servers would do themselves */
function refuseServerTools({ mcp_servers: servers, container }: AnthropicRequest): void {
  const isEmpty = servers == null || Array.isArray(servers) && servers.length === 0;
  const name = isEmpty ? container == null ? undefined : "container" : "mcp_servers";
  if (name === undefined) return;
  throw new HttpError(400, `${name} is not supported: tools run at the client; give them as tools`);
}

/** The level of thinking of the effort, unless none is wanted or a level is given already. */
function withEffort(
  think: ChatRequest["think"],
  { output_config: output }: AnthropicRequest,
): ChatRequest["think"] {
  return think === undefined || think === true ? LEVELS[output?.effort ?? ""] ?? think : think;
}
