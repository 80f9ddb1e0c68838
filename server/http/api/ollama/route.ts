// POST /api/chat and /api/generate. Both go the same way: body -> plan -> generation -> records;
// they differ in their schema, in how the body is translated, and in where the text stands.

import { type Context, Hono } from "../../../dependencies.ts";
import type { ChatEvent, ChatModel, DoneEvent, ModelInfo } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { completed, effectiveInfo, withParameters } from "../defaults.ts";
import { Generation } from "../../generation/generation.ts";
import { readJson } from "../../body/json_body.ts";
import { loadOrUnload, withModel } from "../../generation/lending.ts";
import { requireModelName } from "../model_name.ts";
import { ndjsonResponse } from "../../stream/ndjson.ts";
import {
  chatSchema,
  generateSchema,
  type OllamaChatRequest,
  type OllamaGenerateRequest,
  type OllamaRequest,
} from "./schema.ts";
import { createValidator } from "../../body/validate.ts";
import { type Plan, planChat, planGenerate, type Task } from "./body.ts";
import {
  AnswerParts,
  chatText,
  finalRecord,
  generateText,
  partRecord,
  renderedRecord,
  type TextForm,
  toExtras,
  waitingRecord,
} from "./events.ts";
import type { OllamaRecord, OllamaText } from "./types.ts";
import { json } from "../../stream/json.ts";

/** How one of the two endpoints reads and writes. */
interface Endpoint<T extends OllamaRequest> {
  validate: (body: unknown) => T;
  plan: (body: T, info: ModelInfo) => Plan;
  text: TextForm;
}

const chat: Endpoint<OllamaChatRequest> = {
  validate: createValidator(chatSchema),
  plan: planChat,
  text: chatText,
};

const generate: Endpoint<OllamaGenerateRequest> = {
  validate: createValidator(generateSchema),
  plan: planGenerate,
  text: generateText,
};

/** Routes that run models through the native API. */
export function ollamaRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/api/chat", (context) => answer(context, dependencies, chat));
  app.post("/api/generate", (context) => answer(context, dependencies, generate));
  return app;
}

async function answer<T extends OllamaRequest>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  endpoint: Endpoint<T>,
): Promise<Response> {
  const started = performance.now();
  const body = endpoint.validate(await readJson(context));
  const model = requireModelName(body.model);
  context.set("model", model);
  const entry = await dependencies.store.find(model);
  const plan = endpoint.plan(withParameters(body, entry), effectiveInfo(entry));
  if (plan.ignored.length > 0) {
    dependencies.log.warn(
      `${context.req.path}: ignored without effect: ${plan.ignored.join(", ")}`,
    );
  }

  const { signal } = context.req.raw;
  const { task: planned, ...loading } = plan;
  const task = completed(planned, entry);
  const acquire = { ...loading, signal };
  if (task.kind === "load") {
    const reason = await loadOrUnload(dependencies, model, acquire);
    return json(finalRecord(model, new Date(), endpoint.text(""), reason));
  }
  if (body._debug_render_only) {
    const render = (loaded: ChatModel) => renderTask(loaded, task);
    const rendered = await withModel(dependencies, model, acquire, render);
    return json(renderedRecord(model, new Date(), endpoint.text(""), rendered, imagesIn(task)));
  }

  const generation = await Generation.start(dependencies, {
    ...acquire,
    model,
    run: (loaded, aborted) => run(loaded, task, aborted),
  });
  context.set("generation", generation);
  const answerOptions = { model, started, text: endpoint.text };
  if (body.stream === false) return json(await collect(generation, answerOptions));
  return ndjsonResponse({
    records: toRecords(generation, answerOptions, dependencies.heartbeatMilliseconds),
    cancel: () => generation.return(),
  });
}

/** The prompt text that the task would run, which it takes the loaded model to know. */
async function renderTask(model: ChatModel, task: RunnableTask): Promise<string> {
  return task.kind === "chat" ? await model.renderChat(task.request) : task.request.prompt;
}

function imagesIn({ request }: RunnableTask): number {
  const shown = "messages" in request ? request.messages : [request];
  return shown.reduce((sum, { images = [] }) => sum + images.length, 0);
}

type RunnableTask = Exclude<Task, { kind: "load" }>;

function run(model: ChatModel, task: RunnableTask, signal: AbortSignal): AsyncIterable<ChatEvent> {
  return task.kind === "chat"
    ? model.chat({ ...task.request, signal })
    : model.generate({ ...task.request, signal });
}

interface AnswerOptions {
  model: string;
  /** When the request came, on the clock of performance.now(). */
  started: number;
  text: TextForm;
}

/** A record per piece of the answer, one without any as a sign of life, then the final one. */
async function* toRecords(
  generation: Generation,
  options: AnswerOptions,
  heartbeatMilliseconds?: number,
): AsyncGenerator<OllamaRecord> {
  const parts = new AnswerParts();
  for await (const event of generation.live(heartbeatMilliseconds)) {
    if (event.type === "waiting") {
      yield waitingRecord(options.model, new Date(), options.text(""), event.ahead);
      continue;
    }
    parts.add(event);
    const part = parts.take(options.text);
    if (part) yield partRecord(options.model, new Date(), part);
    if (event.type === "done") yield toFinal(generation, event, options.text(""), options);
  }
}

/** The final record, with the whole answer in it. */
async function collect(generation: Generation, options: AnswerOptions): Promise<OllamaRecord> {
  const parts = new AnswerParts();
  let final: OllamaRecord | undefined;
  for await (const event of generation) {
    parts.add(event);
    if (event.type !== "done") continue;
    final = toFinal(generation, event, parts.take(options.text) ?? options.text(""), options);
  }
  return final!;
}

function toFinal(
  { loadMilliseconds }: Generation,
  done: DoneEvent,
  text: OllamaText,
  { model, started }: AnswerOptions,
): OllamaRecord {
  const extras = toExtras(done, performance.now() - started, loadMilliseconds);
  return finalRecord(model, new Date(), text, done.reason, extras);
}
