// POST /v1/messages and /v1/messages/count_tokens.

import { type Context, Hono } from "../../../dependencies.ts";
import {
  type ChatModel,
  type ChatRequest,
  ChatTemplateError,
  ContextLengthError,
} from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { withModel } from "../../generation/lease.ts";
import { json } from "../../stream/json.ts";
import { type ServerSentEvent, sseResponse } from "../../stream/stream.ts";
import { withConversation } from "../defaults.ts";
import { type Endpoint, generationRoute, translateRequest } from "../handler.ts";
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
  app.post("/v1/messages/count_tokens", (context) => count(context, dependencies));
  app.all("/v1/messages/batches/*", () => {
    throw new HttpError(404, "message batches are not available: send the messages one by one");
  });
  return app;
}

async function count(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
): Promise<Response> {
  const checked = await validate.check(await readJson(context));
  const { model, entry, translation } = await translateRequest(
    context,
    dependencies,
    checked,
    translateCount,
  );
  const { signal } = context.req.raw;
  const request = { ...withConversation(translation.request, entry), signal };
  const tokens = await withModel(
    dependencies,
    model,
    { ...translation, signal },
    async (loaded) => {
      try {
        const counted = await loaded.countTokens(await placed(loaded, request));
        signal.throwIfAborted();
        return counted;
      } catch (error) {
        // A prompt that does not fit the window has been counted nevertheless.
        if (error instanceof ContextLengthError) return error.promptTokens;
        throw error;
      }
    },
  );
  context.set("promptTokens", tokens);
  return json<TokenCount>({ input_tokens: tokens }, 200, { "request-id": newId("req") });
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
