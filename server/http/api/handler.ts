// The way of every request that a model answers: body -> plan -> generation -> answer. The body is
// checked, the model found, a plan made of both and completed from what the model's creator chose;
// what has no effect is told to the log; then the plan runs, and what comes of it is encoded, whole or
// as a stream. The APIs differ in their endpoints alone. An endpoint does no input and no output.

import type { Context } from "../../dependencies.ts";
import type {
  AskedLoad,
  ChatEvent,
  ChatModel,
  ChatRequest,
  GenerateRequest,
  ModelInfo,
  QueuedEvent,
  StoreEntry,
} from "../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../app_types.ts";
import { readJson } from "../body/json_body.ts";
import type { Given } from "../body/schema.ts";
import { mergeChoices } from "../generation/choices.ts";
import { type AnswerEvent, Generation, type Waiting } from "../generation/generation.ts";
import { json } from "../stream/json.ts";
import type { StreamOptions } from "../stream/stream.ts";
import { completed, effectiveInfo, withParameters } from "./defaults.ts";
import { requireModelName } from "./model_name.ts";
import type { OllamaOptions } from "./options.ts";

/** What the bodies of all requests to models have. */
export interface RequestBody {
  model?: Given<string>;
  stream?: Given<boolean>;
  options?: Given<OllamaOptions>;
}

/** One thing for the engine to do. */
export type Task =
  | { kind: "chat"; request: ChatRequest }
  | { kind: "generate"; request: GenerateRequest };

/** How a request wants its model. */
export interface Loading extends AskedLoad {
  /** In milliseconds; Infinity is for ever. */
  keepAlive?: number;
  /** Names of given members without effect, for the log. */
  ignored: string[];
}

/** A request, translated. */
export interface Plan extends Loading {
  /** One per choice of the answer. */
  tasks: Task[];
}

/** A request whose model has been found. */
export interface PlannedRequest<P> {
  /** As the client wrote it. */
  model: string;
  entry: StoreEntry;
  plan: P;
}

/** An event, and the choice of the answer that it belongs to; without one, the only one. */
export type ChoiceEvent = Exclude<ChatEvent, QueuedEvent> & { choice?: number };

/** What an encoder knows of the answer besides its events. Times in milliseconds. */
export interface AnswerHead {
  /** Unique; answers put their kind before it. */
  id: string;
  /** As the client wrote it. */
  model: string;
  now: () => Date;
  /** Since the request came. */
  elapsed: () => number;
  /** That the model took to be there. */
  loadMilliseconds: number;
}

/** Makes the engine's events into what a client reads. Pure but for the clock of its head. */
export interface EventEncoder<Told> {
  /** Takes an event. Gives what a stream says for it. */
  add(event: ChoiceEvent): Told[];
  /**
   * What a stream says while nothing comes.
   *
   * @param ahead requests that come first; undefined where this one is being worked on
   */
  waiting(ahead: number | undefined): Told[];
  /** The last that a stream says after a failure; undefined cuts it off, so that no end looks whole. */
  fail(error: unknown): Told | undefined;
  /** The whole answer, once all events were added. */
  whole(): unknown;
  /** Headers of the response besides those of its kind. */
  readonly headers?: Record<string, string>;
}

/** How one of an API's endpoints reads and writes. */
export interface Endpoint<
  Body extends RequestBody,
  Told,
  Encoder extends EventEncoder<Told> = EventEncoder<Told>,
> {
  /** Checks a body against its schema. */
  validate: (body: unknown) => Body;
  /** Translates a body. Without tasks there is nothing to generate, and `instead` answers. */
  plan: (body: Body, info: ModelInfo) => Plan;
  encoder: (head: AnswerHead, body: Body, plan: Plan) => Encoder;
  /** Frames what the encoder says. */
  stream: (options: StreamOptions<Told>) => Response;
  /** Whether an answer is streamed of which the body does not say so. Default false. */
  streams?: boolean;
  /** Names the answer. Default: a random id. */
  newId?: () => string;
  /** Answers what takes no generation; undefined where one is due. */
  instead?: (body: Body, planned: PlannedRequest<Plan>, signal: AbortSignal) =>
    | Promise<Response>
    | undefined;
  /** The last word on a chat, with the model loaded. */
  adapt?: (model: ChatModel, request: ChatRequest) => Promise<ChatRequest>;
  /** A failure before the answer, in the endpoint's own words. */
  failure?: (error: unknown) => unknown;
  /** Called when the answer is whole, before its end is told. */
  finish?: (id: string, encoder: Encoder) => Promise<void>;
}

/**
 * Finds the model of a request and makes a plan for it, with the model's parameters under the body's
 * options. What the plan ignores is told to the log.
 *
 * @throws {HttpError} 400 for what is no name; what the store and the plan throw
 */
export async function planRequest<Body extends RequestBody, P extends Pick<Loading, "ignored">>(
  context: Context<AppEnvironment>,
  { store, log }: AppDependencies,
  body: Body,
  toPlan: (body: Body, info: ModelInfo) => P,
): Promise<PlannedRequest<P>> {
  const model = requireModelName(body.model);
  context.set("model", model);
  const entry = await store.find(model);
  const plan = toPlan(withParameters(body, entry), effectiveInfo(entry));
  if (plan.ignored.length > 0) {
    log.warn(`${context.req.path}: ignored without effect: ${plan.ignored.join(", ")}`);
  }
  return { model, entry, plan };
}

/** The route of an endpoint. */
export function generationRoute<Body extends RequestBody, Told>(
  dependencies: AppDependencies,
  endpoint: Endpoint<Body, Told>,
): (context: Context<AppEnvironment>) => Promise<Response> {
  return async (context) => {
    const started = performance.now();
    const body = endpoint.validate(await readJson(context));
    return await answer(context, dependencies, body, endpoint, started);
  };
}

/**
 * Answers a request whose body has been checked, whole or as a stream.
 *
 * @param started when the request came, on the clock of performance.now()
 */
export async function answer<Body extends RequestBody, Told, Encoder extends EventEncoder<Told>>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  body: Body,
  endpoint: Endpoint<Body, Told, Encoder>,
  started: number = performance.now(),
): Promise<Response> {
  const { signal } = context.req.raw;
  const found = await planRequest(context, dependencies, body, endpoint.plan);
  const { model, entry } = found;
  const plan = { ...found.plan, tasks: found.plan.tasks.map((task) => completed(task, entry)) };
  const other = await endpoint.instead?.(body, { ...found, plan }, signal);
  if (other) return other;

  const generation = await Generation.start(dependencies, {
    ...plan,
    model,
    signal,
    run: (loaded, aborted) => runAll(loaded, plan.tasks, aborted, endpoint.adapt),
  }).catch((error) => {
    throw endpoint.failure?.(error) ?? error;
  });
  context.set("generation", generation);
  const id = endpoint.newId?.() ?? crypto.randomUUID().replaceAll("-", "");
  const { loadMilliseconds } = generation;
  const elapsed = () => performance.now() - started;
  const head = { id, model, now: () => new Date(), elapsed, loadMilliseconds };
  const encoder = endpoint.encoder(head, body, plan);
  const finish = async () => await endpoint.finish?.(id, encoder);
  if (!(body.stream ?? endpoint.streams)) {
    for await (const event of generation) encoder.add(event);
    await finish();
    return json(encoder.whole(), 200, encoder.headers);
  }
  const response = endpoint.stream({
    events: encodeAll(generation.live(dependencies.heartbeatMilliseconds), encoder, finish),
    cancel: () => generation.return(),
    fail: (error) => encoder.fail(error),
  });
  for (const [name, value] of Object.entries(encoder.headers ?? {})) {
    response.headers.set(name, value);
  }
  return response;
}

function runAll(
  model: ChatModel,
  tasks: readonly Task[],
  signal: AbortSignal,
  adapt: Endpoint<RequestBody, unknown>["adapt"],
): AsyncIterable<ChatEvent> {
  const [first, ...others] = tasks.map((task) => () => run(model, task, signal, adapt));
  return others.length === 0 ? first!() : mergeChoices([first!, ...others]);
}

function run(
  model: ChatModel,
  task: Task,
  signal: AbortSignal,
  adapt: Endpoint<RequestBody, unknown>["adapt"],
): AsyncIterable<ChatEvent> {
  if (task.kind === "generate") return model.generate({ ...task.request, signal });
  const request = { ...task.request, signal };
  return adapt ? chatAdapted(model, request, adapt) : model.chat(request);
}

async function* chatAdapted(
  model: ChatModel,
  request: ChatRequest,
  adapt: (model: ChatModel, request: ChatRequest) => Promise<ChatRequest>,
): AsyncGenerator<ChatEvent> {
  yield* model.chat(await adapt(model, request));
}

async function* encodeAll<Told>(
  events: AsyncIterable<AnswerEvent | Waiting>,
  encoder: EventEncoder<Told>,
  finish: () => Promise<void>,
): AsyncGenerator<Told> {
  for await (const event of events) {
    if (event.type === "waiting") {
      yield* encoder.waiting(event.ahead);
      continue;
    }
    const told = encoder.add(event);
    if (event.type === "done") await finish();
    yield* told;
  }
}
