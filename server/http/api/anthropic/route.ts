// POST /v1/messages and /v1/messages/count_tokens.

import { Hono } from "../../../dependencies.ts";
import { type ChatModel, type ChatRequest, ChatTemplateError } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { json } from "../../stream/json.ts";
import { type ServerSentEvent, sseResponse } from "../../stream/stream.ts";
import { countTokens } from "../count.ts";
import { type Endpoint, generationRoute } from "../handler.ts";
import type { AnthropicEvent, TokenCount } from "./answer_schema.ts";
import { translateCount, translateMessages } from "./body.ts";
import { AnthropicEncoder, newId } from "./events.ts";
import { type AnthropicRequest, messagesSchema } from "./schema.ts";
import { instructionsAsUser, laterInstructions } from "./turns.ts";

const validate = createValidator(messagesSchema);

/** Routes of Anthropic's Messages API. */
export function anthropicRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  const { anthropicExact: exact = false } = dependencies;
  const messages: Endpoint<AnthropicRequest, ServerSentEvent<AnthropicEvent>> = {
    validate,
    translate(body, info) {
      const { request, ...loading } = translateMessages(body, info);
      return { ...loading, tasks: [{ kind: "chat", request }] };
    },
    encoder: (head, { stop_sequences, options }) =>
      new AnthropicEncoder({
        ...head,
        requestId: newId("req"),
        exact,
        stopSequences: [...stop_sequences ?? [], ...options?.stop ?? []],
      }),
    stream: sseResponse,
    newId: () => newId("msg"),
    adapt: placed,
  };
  app.post("/v1/messages", generationRoute(dependencies, messages));
  app.post("/v1/messages/count_tokens", async (context) => {
    const checked = await validate.check(await readJson(context));
    const counting = { translate: translateCount, adapt: placed };
    const tokens = await countTokens(context, dependencies, checked, counting);
    return json<TokenCount>({ input_tokens: tokens }, 200, { "request-id": newId("req") });
  });
  app.all("/v1/messages/batches/*", () => {
    throw new HttpError(404, "message batches are not available: send the messages one by one");
  });
  return app;
}

/**
 * The request, with instructions in the middle of the conversation moved to where the template
 * shows them.
 */
async function placed(model: ChatModel, request: ChatRequest): Promise<ChatRequest> {
  const instructions = laterInstructions(request.messages);
  if (instructions.length === 0) return request;
  const prompt = await model.renderChat(request).catch((error) => {
    if (error instanceof ChatTemplateError && error.fault === "refused") return "";
    throw error;
  });
  request.signal?.throwIfAborted();
  if (instructions.every((text) => prompt.includes(text))) return request;
  return { ...request, messages: instructionsAsUser(request.messages) };
}
