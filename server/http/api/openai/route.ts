// POST /v1/chat/completions and /v1/completions, and the way that POST /v1/responses goes as well:
// body -> plan -> generation -> answer. They differ in how bodies and events are translated.

import { type Context, Hono } from "../../../dependencies.ts";
import type { ChatEvent, ChatModel, ModelInfo } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { mergeChoices } from "../../generation/choices.ts";
import { completed, effectiveInfo, withParameters } from "../defaults.ts";
import { messageOf } from "../../../log.ts";
import { type AnswerEvent, Generation, type Waiting } from "../../generation/generation.ts";
import { readJson } from "../../body/json_body.ts";
import { requireModelName } from "../model_name.ts";
import {
  type ChatBody,
  type CompletionBody,
  type OpenAiBody,
  openAiChatSchema,
  openAiCompletionSchema,
} from "./schema.ts";
import {
  type ServerSentEvent,
  type SseComment,
  sseResponse,
  waitingComment,
} from "../../stream/sse.ts";
import { createValidator } from "../../body/validate.ts";
import type { AnswerHead, OpenAiAnswer } from "./answer.ts";
import { planChat } from "./chat/body.ts";
import { ChatAnswer } from "./chat/events.ts";
import { echoedPrompts, planCompletion } from "./completion/body.ts";
import { CompletionAnswer } from "./completion/events.ts";
import { withParam } from "./error.ts";
import type { Plan, Task } from "./plan.ts";
import { json } from "../../stream/json.ts";

/** How one of the endpoints reads and writes. */
export interface Endpoint<T extends OpenAiBody, A extends OpenAiAnswer = OpenAiAnswer> {
  plan: (body: T, info: ModelInfo) => Plan;
  answer: (head: AnswerHead, body: T, plan: Plan) => A;
  /** The member that says what the answer must be, if there is one. */
  format?: string;
  /** Names the answer. Default: a random id. */
  newId?: () => string;
  /** Called when the answer is whole, before its end is told. */
  finish?: (id: string, answer: A) => Promise<void>;
}

const validateChat = createValidator(openAiChatSchema);
const chat: Endpoint<ChatBody> = {
  plan: planChat,
  answer: (head, body) => new ChatAnswer(head, body.stream_options?.include_usage ?? false),
  format: "response_format",
};

const validateCompletion = createValidator(openAiCompletionSchema);
const completion: Endpoint<CompletionBody> = {
  plan: planCompletion,
  answer: (head, body, { tasks }) =>
    new CompletionAnswer(head, {
      choices: tasks.length,
      echo: echoedPrompts(body),
      tellsUsage: body.stream_options?.include_usage ?? false,
    }),
};

/** Routes of both kinds of completions. */
export function openAiRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/v1/chat/completions", async (context) => {
    return await answer(context, dependencies, validateChat(await readJson(context)), chat);
  });
  app.post("/v1/completions", async (context) => {
    const body = validateCompletion(await readJson(context));
    return await answer(context, dependencies, body, completion);
  });
  return app;
}

/** Answers a request whose body has been read, whole or as a stream. */
export async function answer<T extends OpenAiBody, A extends OpenAiAnswer>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  body: T,
  endpoint: Endpoint<T, A>,
): Promise<Response> {
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
  const id = endpoint.newId?.() ?? crypto.randomUUID().replaceAll("-", "");
  const head = { id, model, now: () => Math.floor(Date.now() / 1000) };
  const result = endpoint.answer(head, body, plan);
  if (!body.stream) {
    for await (const event of generation) result.add(event);
    await endpoint.finish?.(id, result);
    return json(result.whole());
  }
  return sseResponse({
    events: toEvents(
      generation.live(dependencies.heartbeatMilliseconds),
      result,
      () => endpoint.finish?.(id, result),
    ),
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
  generation: AsyncIterable<AnswerEvent | Waiting>,
  answer: OpenAiAnswer,
  finish: () => Promise<void> | undefined,
): AsyncGenerator<ServerSentEvent | SseComment> {
  for await (const event of generation) {
    if (event.type === "waiting") {
      yield { comment: waitingComment(event) };
      continue;
    }
    const told = answer.add(event);
    if (event.type === "done") await finish();
    yield* told;
  }
}
