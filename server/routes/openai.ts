// POST /v1/chat/completions, /v1/completions and /v1/responses. All go the same way: body -> plan ->
// generation -> answer; they differ in their schema and in how bodies and events are translated.

import { type Context, Hono } from "../dependencies.ts";
import type { ChatEvent, ChatModel, ModelInfo } from "../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../app_types.ts";
import { mergeChoices } from "../choices.ts";
import { completed, effectiveInfo, withParameters } from "../defaults.ts";
import { messageOf } from "../errors.ts";
import { Generation } from "../generation.ts";
import { readJson } from "../json_body.ts";
import { requireModelName } from "../model_name.ts";
import {
  openAiChatSchema,
  openAiCompletionSchema,
  openAiResponsesSchema,
} from "../schemas/openai.ts";
import { type ServerSentEvent, sseResponse } from "../sse.ts";
import { createValidator } from "../validate.ts";
import {
  type AnswerHead,
  ChatAnswer,
  type ChatBody,
  CompletionAnswer,
  type CompletionBody,
  echoedPrompts,
  type OpenAiAnswer,
  type OpenAiBody,
  type Plan,
  planChat,
  planCompletion,
  planResponse,
  ResponsesAnswer,
  type ResponsesBody,
  type Task,
  withParam,
} from "../wire/openai/mod.ts";
import { json } from "./json.ts";

/** How one of the endpoints reads and writes. */
interface Endpoint<T extends OpenAiBody> {
  validate: (body: unknown) => T;
  plan: (body: T, info: ModelInfo) => Plan;
  answer: (head: AnswerHead, body: T, plan: Plan) => OpenAiAnswer;
  /** The member that says what the answer must be, if there is one. */
  format?: string;
}

const chat: Endpoint<ChatBody> = {
  validate: createValidator(openAiChatSchema),
  plan: planChat,
  answer: (head, body) => new ChatAnswer(head, body.stream_options?.include_usage ?? false),
  format: "response_format",
};

const completion: Endpoint<CompletionBody> = {
  validate: createValidator(openAiCompletionSchema),
  plan: planCompletion,
  answer: (head, body, { tasks }) =>
    new CompletionAnswer(head, {
      choices: tasks.length,
      echo: echoedPrompts(body),
      tellsUsage: body.stream_options?.include_usage ?? false,
    }),
};

const responses: Endpoint<ResponsesBody> = {
  validate: createValidator(openAiResponsesSchema),
  plan: planResponse,
  answer: (head, body) => new ResponsesAnswer(head, body),
  format: "text.format",
};

/** Routes that run models through OpenAI's API. */
export function openAiRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/v1/chat/completions", (context) => answer(context, dependencies, chat));
  app.post("/v1/completions", (context) => answer(context, dependencies, completion));
  app.post("/v1/responses", (context) => answer(context, dependencies, responses));
  return app;
}

async function answer<T extends OpenAiBody>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  endpoint: Endpoint<T>,
): Promise<Response> {
  const body = endpoint.validate(await readJson(context));
  const model = requireModelName(body.model);
  context.set("model", model);
  const entry = await dependencies.store.find(model);
  const plan = endpoint.plan(withParameters(body, entry), effectiveInfo(entry));
  const { tasks: planned, ignored, ...loading } = plan;
  const tasks = planned.map((task) => completed(task, entry));
  if (ignored.length > 0) {
    dependencies.log.warn(`${context.req.path}: ignored without effect: ${ignored.join(", ")}`);
  }

  const generation = await Generation.start(dependencies, {
    ...loading,
    model,
    signal: context.req.raw.signal,
    run: (loaded, aborted) => runAll(loaded, tasks, aborted),
  }).catch((error) => {
    throw withParam(error, endpoint.format);
  });
  context.set("generation", generation);
  const id = crypto.randomUUID().replaceAll("-", "");
  const head = { id, model, now: () => Math.floor(Date.now() / 1000) };
  const result = endpoint.answer(head, body, plan);
  if (!body.stream) {
    for await (const event of generation) result.add(event);
    return json(result.whole());
  }
  return sseResponse({
    events: toEvents(generation, result),
    cancel: () => generation.return(),
    fail: (error) => result.fail(messageOf(error)),
  });
}

function runAll(
  model: ChatModel,
  tasks: readonly Task[],
  signal: AbortSignal,
): AsyncIterable<ChatEvent> {
  const [first, ...others] = tasks.map((task) => () => run(model, task, signal));
  return others.length === 0 ? first!() : mergeChoices([first!, ...others]);
}

function run(model: ChatModel, task: Task, signal: AbortSignal): AsyncIterable<ChatEvent> {
  return task.kind === "chat"
    ? model.chat({ ...task.request, signal })
    : model.generate({ ...task.request, signal });
}

async function* toEvents(
  generation: Generation,
  answer: OpenAiAnswer,
): AsyncGenerator<ServerSentEvent> {
  for await (const event of generation) yield* answer.add(event);
}
