// POST /v1/messages and /v1/messages/count_tokens. Both go the same way up to the loaded model:
// body -> plan -> conversation that the model's template takes.

import { type Context, Hono } from "../../../dependencies.ts";
import {
  type ChatModel,
  type ChatRequest,
  ChatTemplateError,
  ContextLengthError,
} from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { effectiveInfo, withConversation, withParameters } from "../defaults.ts";
import { HttpError } from "../../errors.ts";
import { type AnswerEvent, Generation, type Waiting } from "../../generation/generation.ts";
import { readJson } from "../../body/json_body.ts";
import { withModel } from "../../generation/lending.ts";
import { requireModelName } from "../model_name.ts";
import { messagesSchema } from "./schema.ts";
import { type ServerSentEvent, sseResponse, waitingComment } from "../../stream/sse.ts";
import { createValidator } from "../../body/validate.ts";
import { type MessagesPlan, planCount, planMessages } from "./body.ts";
import { anthropicError } from "./errors.ts";
import { AnswerCollector, AnswerWriter } from "./events.ts";
import { newId } from "./ids.ts";
import { instructionsAsUser, laterInstructions } from "./system_turns.ts";
import type { AnthropicEvent } from "./types.ts";
import { json } from "../../stream/json.ts";

const validate = createValidator(messagesSchema);

/** Routes of Anthropic's Messages API. */
export function anthropicRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/v1/messages", (context) => answer(context, dependencies));
  app.post("/v1/messages/count_tokens", (context) => count(context, dependencies));
  app.all("/v1/messages/batches/*", () => {
    throw new HttpError(404, "message batches are not available: send the messages one by one");
  });
  return app;
}

async function answer(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
): Promise<Response> {
  const { body, model, plan } = await read(context, dependencies, planMessages);
  const { request, ...acquire } = plan;
  const generation = await Generation.start(dependencies, {
    ...acquire,
    model,
    run: (loaded, signal) => chat(loaded, { ...request, signal }),
  });
  context.set("generation", generation);

  const { anthropicExact: exact = false, heartbeatMilliseconds } = dependencies;
  const requestId = newId("req");
  const writer = new AnswerWriter({ id: newId("msg"), model, exact });
  if (!body.stream) return identified(json(await collect(generation, writer)), requestId);
  const response = sseResponse({
    events: toEvents(generation.live(heartbeatMilliseconds), writer),
    cancel: () => generation.return(),
    fail(error) {
      // Before the answer begins there is nothing that an end could make look whole.
      if (!exact && writer.hasBegun) return undefined;
      const data = anthropicError(error, requestId);
      return { event: data.type, data };
    },
  });
  return identified(response, requestId);
}

async function count(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
): Promise<Response> {
  const { model, plan } = await read(context, dependencies, planCount);
  const { request, ...acquire } = plan;
  const { signal } = acquire;
  const tokens = await withModel(dependencies, model, acquire, async (loaded) => {
    try {
      const counted = await loaded.countTokens(await placed(loaded, { ...request, signal }));
      signal.throwIfAborted();
      return counted;
    } catch (error) {
      // What does not fit can be counted all the same.
      if (error instanceof ContextLengthError) return error.promptTokens;
      throw error;
    }
  });
  context.set("promptTokens", tokens);
  return identified(json({ input_tokens: tokens }), newId("req"));
}

/** What the two have in common before a model is needed. */
async function read(
  context: Context<AppEnvironment>,
  { store, log }: AppDependencies,
  toPlan: typeof planMessages,
) {
  const body = validate(await readJson(context));
  const model = requireModelName(body.model);
  context.set("model", model);
  const entry = await store.find(model);
  const { ignored, ...plan }: MessagesPlan = toPlan(
    withParameters(body, entry),
    effectiveInfo(entry),
  );
  const request = withConversation(plan.request, entry);
  if (ignored.length > 0) {
    log.warn(`${context.req.path}: ignored without effect: ${ignored.join(", ")}`);
  }
  return { body, model, plan: { ...plan, request, signal: context.req.raw.signal } };
}

async function* chat(model: ChatModel, request: ChatRequest) {
  yield* model.chat(await placed(model, request));
}

/** The request with instructions where the model's template shows them. */
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

async function* toEvents(
  generation: AsyncIterable<AnswerEvent | Waiting>,
  writer: AnswerWriter,
): AsyncGenerator<ServerSentEvent> {
  for await (const event of generation) {
    if (event.type !== "waiting") yield* writer.write(event).map(named);
    else if (event.ahead === undefined) yield named({ type: "ping" });
    else yield { ...named({ type: "ping" }), comment: waitingComment(event) };
  }
}

function named(data: AnthropicEvent): ServerSentEvent {
  return { event: data.type, data };
}

async function collect(generation: Generation, writer: AnswerWriter) {
  const collector = new AnswerCollector();
  for await (const event of generation) {
    for (const written of writer.write(event)) collector.add(written);
  }
  return collector.answer;
}

/** The response with the name that clients report a fault by. */
function identified(response: Response, requestId: string): Response {
  response.headers.set("request-id", requestId);
  return response;
}
