// The one handler of requests that a model answers. It checks the body, finds the model, has the
// endpoint translate the body into requests to the engine, fills in the model's defaults, runs the
// requests, and has the endpoint encode their events, as one answer or as a stream. An API only adds its endpoints: pure functions that translate bodies and
// encode events.

import type { Context } from "../../dependencies.ts";
import type {
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
import type { CheckedBody, Validator } from "../body/validate.ts";
import { mergeChoices, told } from "../generation/choices.ts";
import { type AnswerEvent, Generation, type Waiting } from "../generation/generation.ts";
import { json, patientJson } from "../stream/json.ts";
import { resumable } from "../stream/resumable.ts";
import { sseResponse, type StreamOptions } from "../stream/stream.ts";
import { completed, effectiveInfo, withParameters } from "./defaults.ts";
import { inBackground, type LastingEncoder, logOfConversation, stopped } from "./lasting.ts";
import { requireModelName } from "./model_name.ts";
import { standingOf } from "./sessions.ts";
import type { Loading, OllamaOptions } from "./options.ts";
import { changesOf, ownChangesOf, type SteeringWish } from "./steering.ts";
import { enforceThinkingBudget } from "./thinking.ts";

/** The members that the bodies of all requests to models have. */
export interface RequestBody {
  model?: Given<string>;
  stream?: Given<boolean>;
  options?: Given<OllamaOptions>;
}

/** A request to the engine. */
export type Task =
  | { kind: "chat"; request: ChatRequest }
  | { kind: "generate"; request: GenerateRequest };

/** A body, translated into requests to the engine. */
export interface Translation extends Loading {
  /** One per choice of the answer. */
  tasks: Task[];
  /** How many choices in a row have the same prompt, which is counted once. Default 1. */
  answersPerPrompt?: number;
  /** Most tokens of thinking that the body asks for, where the server enforces that. */
  thinkingBudget?: number;
  /** What is done in another way than the body asks, a sentence each. */
  warnings?: readonly string[];
  /** Whether the answer leaves out what the model thinks. */
  hidesThinking?: boolean;
  /** Whether what the model thinks is a part of its text. */
  inlinesThinking?: boolean;
  /** Directions to add inside the model, by the names of their vectors. Missing: the model's own. */
  controlVectors?: SteeringWish;
  /** The member that asks for a format, for errors of the format. */
  formatMember?: string;
  /** The session of a program that the body says it belongs to. */
  session?: string;
}

/** A translated request, with the model that it is for. */
export interface TranslatedRequest<P> {
  /** As the client wrote it. */
  model: string;
  entry: StoreEntry;
  translation: P;
}

/** An event, and the choice of the answer that it belongs to; without one, the only one. */
export type ChoiceEvent = Exclude<ChatEvent, QueuedEvent> & { choice?: number };

/** Facts about an answer besides its events. Times in milliseconds. */
export interface AnswerHead {
  /** A unique id; answers put a prefix for their kind before it. */
  id: string;
  /** As the client wrote it. */
  model: string;
  now: () => Date;
  /** Time since the request came. */
  elapsed: () => number;
  /** Time that loading the model took. */
  loadMilliseconds: number;
}

/** An encoder of the engine's events in an API's format. Pure, apart from the clock in its head. */
export interface EventEncoder<Told> extends Partial<LastingEncoder<Told>> {
  /** Takes an event; returns the records that a stream sends for it. */
  add(event: ChoiceEvent): Told[];
  /**
   * The records that a stream sends while the model gives no events.
   *
   * @param ahead how many requests come first; undefined while this one is worked on
   */
  waiting(ahead: number | undefined): Told[];
  /**
   * The last record after a failure. Undefined cuts the connection, so that no client takes the
   * answer for complete.
   */
  fail(error: unknown): Told | undefined;
  /** The whole answer, once all events were added. */
  whole(): unknown;
  /** Further headers of the response. */
  readonly headers?: Record<string, string>;
}

/** An endpoint of an API: how it reads bodies and writes answers. */
export interface Endpoint<
  Body extends RequestBody,
  Told,
  Encoder extends EventEncoder<Told> = EventEncoder<Told>,
> {
  /** Checks a body against its schema. */
  validate: Validator<Body>;
  /** Translates a body. Without tasks nothing is generated, and `instead` answers. */
  translate: (body: Body, info: ModelInfo) => Translation;
  encoder: (head: AnswerHead, body: Body, translation: Translation) => Encoder;
  /** Makes a response of the records of the encoder. */
  stream: (options: StreamOptions<Told>) => Response;
  /** Whether an answer is streamed if the body does not say. Default false. */
  streams?: boolean;
  /** The id of the answer. Default: a random one. */
  newId?: () => string;
  /** Answers requests that need no generation; undefined for the others. */
  instead?: (body: Body, translated: TranslatedRequest<Translation>, signal: AbortSignal) =>
    | Promise<Response>
    | undefined;
  /** Changes a chat once the model is loaded. */
  adapt?: (model: ChatModel, request: ChatRequest) => Promise<ChatRequest>;
  /**
   * Translates an error that occurs before the answer begins into one that names the member at
   * fault.
   */
  failure?: (error: unknown, translation: Translation) => unknown;
  /**
   * Called when the answer is complete, before its last records are sent; of one that is made in the
   * background, also when it begins and when it fails.
   */
  finish?: (id: string, encoder: Encoder) => Promise<void>;
  /**
   * The name of the log of an answer that is made in the background, for clients that come back.
   * Undefined: the client waits for the answer.
   */
  background?: (body: Body, id: string) => string | undefined;
}

/**
 * Finds the model of a request and translates its body, in which the model's parameters are defaults of
 * the options.
 *
 * @throws {HttpError} 400 for what is no name, and for a member that is not known; what the store and the
 *   translation throw
 */
export async function translateRequest<Body extends Pick<RequestBody, "model" | "options">, P>(
  context: Context<AppEnvironment>,
  { store }: AppDependencies,
  { body, unknown }: CheckedBody<Body>,
  translate: (body: Body, info: ModelInfo) => P,
): Promise<TranslatedRequest<P>> {
  const model = requireModelName(body.model);
  context.set("model", model);
  const entry = await store.find(model);
  const translation = translate(withParameters(body, entry), effectiveInfo(entry));
  if (unknown) throw unknown;
  return { model, entry, translation };
}

/** The route of an endpoint. */
export function generationRoute<Body extends RequestBody, Told>(
  dependencies: AppDependencies,
  endpoint: Endpoint<Body, Told>,
): (context: Context<AppEnvironment>) => Promise<Response> {
  return async (context) => {
    const started = performance.now();
    const checked = await endpoint.validate.check(await readJson(context));
    return await answer(context, dependencies, checked, endpoint, started);
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
  checked: CheckedBody<Body>,
  endpoint: Endpoint<Body, Told, Encoder>,
  started: number = performance.now(),
): Promise<Response> {
  if (checked.body.stream ?? endpoint.streams) {
    return await begin(context, dependencies, checked, endpoint, { started });
  }
  return await patiently(
    context,
    dependencies,
    (way) => begin(context, dependencies, checked, endpoint, { started, ...way }),
  );
}

/** How a request that takes long goes on after its response has begun. */
interface Way {
  /** Aborts when the client has gone. */
  signal: AbortSignal;
  /** Headers of the response that are known so far. */
  headers: Headers;
}

/** Answers with JSON, before which white space keeps the connection alive if the work takes long. */
export async function patiently(
  context: Context<AppEnvironment>,
  { whiteSpaceMilliseconds: milliseconds = 20_000, tellFailure }: AppDependencies,
  work: (way: Way) => Promise<Response>,
): Promise<Response> {
  const headers = new Headers();
  const abandoned = new AbortController();
  const signal = AbortSignal.any([context.req.raw.signal, abandoned.signal]);
  return await patientJson(work({ signal, headers }), {
    milliseconds,
    headers,
    failed(error) {
      const response = tellFailure(error, context);
      context.set("lateStatus", response.status);
      return response;
    },
    begins: (ended) => context.set("late", ended),
    cancel: () => abandoned.abort(),
  });
}

/** Begins the answer, and if it is not streamed waits for its end. */
async function begin<Body extends RequestBody, Told, Encoder extends EventEncoder<Told>>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  checked: CheckedBody<Body>,
  endpoint: Endpoint<Body, Told, Encoder>,
  { started, signal = context.req.raw.signal, headers: early }: { started: number } & Partial<Way>,
): Promise<Response> {
  const { body } = checked;
  const found = await translateRequest(context, dependencies, checked, endpoint.translate);
  const { model, entry } = found;
  const translation = {
    ...found.translation,
    tasks: await changed(
      found.translation.tasks.map((task) => completed(task, entry)),
      found,
      dependencies,
    ),
  };
  if (dependencies.enforcesThinkingBudget) {
    enforceThinkingBudget(translation.tasks, translation.thinkingBudget);
  }
  const other = await endpoint.instead?.(body, { ...found, translation }, signal);
  if (other) return other;

  const isStreamed = body.stream ?? endpoint.streams ?? false;
  const id = endpoint.newId?.() ?? crypto.randomUUID().replaceAll("-", "");
  const request = dependencies.requests.enter(context.req.header("x-request-id"));
  const { answerNow } = request;
  const standing = {
    ...standingOf((name) => context.req.header(name), {
      session: translation.session,
      hasTools: translation.tasks.some(hasTools),
    }),
    ...context.var.account?.standing,
    ...(context.var.wantsTimeline && { timeline: true }),
  };
  early?.set("x-request-id", request.id);
  let generation: Generation | undefined;
  const start = async (wanted: AbortSignal) => {
    generation = await Generation.start(dependencies, {
      ...translation,
      model,
      signal: wanted,
      run: (loaded, aborted) => {
        const signals = { signal: aborted, answerNow, ...standing };
        return told(runAll(loaded, translation, signals, endpoint.adapt), translation);
      },
    }).catch((error) => {
      request[Symbol.dispose]();
      throw endpoint.failure?.(error, translation) ?? error;
    });
    void generation.ended.then(() => request[Symbol.dispose]());
    context.set("generation", generation);
    return generation;
  };
  const head: AnswerHead = {
    id,
    model,
    now: () => new Date(),
    elapsed: () => performance.now() - started,
    get loadMilliseconds() {
      return generation?.loadMilliseconds ?? 0;
    },
  };
  const encoder = endpoint.encoder(head, body, translation);
  const finish = async () => await endpoint.finish?.(id, encoder);
  const headersNow = () => ({
    "x-request-id": request.id,
    ...(generation?.cachedTokens !== undefined &&
      { "x-cached-tokens": `${generation.cachedTokens}` }),
    ...encoder.headers,
  });
  const encoded = (generation: Generation) =>
    encodeAll(generation.live(dependencies.heartbeatMilliseconds), encoder, finish);

  const name = endpoint.background?.(body, id);
  if (name !== undefined) {
    const headers = headersNow();
    const stream = (events: AsyncIterable<Told>) =>
      endpoint.stream({ events, cancel: () => Promise.resolve(), fail: () => undefined, headers });
    const lasting = encoder as EventEncoder<Told> as LastingEncoder<Told>;
    const answer = { name, encoder: lasting, finish, stream, isStreamed, headers };
    const begin = async (wanted: AbortSignal) => encoded(await start(wanted));
    return inBackground(context, dependencies, answer, begin);
  }
  const canResume = isStreamed && endpoint.stream === sseResponse;
  const log = canResume ? logOfConversation(context, dependencies) : undefined;
  const begun = await start(log?.signal ?? signal).catch((error) => {
    if (log) dependencies.logs.discard(log, error);
    throw error;
  });
  if (!isStreamed) return await whole(begun, encoder, finish, headersNow);
  await begun.untilBegun(dependencies.heartbeatMilliseconds);
  const response = endpoint.stream({
    events: encoded(begun),
    cancel: () => begun.return(),
    fail: (error) => encoder.fail(stopped(error, dependencies)),
    headers: headersNow(),
  });
  return log ? resumable(response, log, dependencies.logs) : response;
}

/** The tasks, with the vectors and adapters that are named, or the model's. Errors: HttpError. */
async function changed(
  tasks: Task[],
  { entry, translation: { controlVectors } }: TranslatedRequest<Translation>,
  { store, loraDefaults }: AppDependencies,
): Promise<Task[]> {
  const lora = loraDefaults.get(entry.name);
  if (tasks.length === 0) return tasks;
  const changes = controlVectors
    ? await changesOf(controlVectors, store)
    : await ownChangesOf(entry, store);
  if (changes.length === 0 && !lora) return tasks;
  const hooks = changes.length > 0 && { changes };
  return tasks.map((task) =>
    ({
      ...task,
      request: { ...lora && { lora }, ...task.request, ...hooks && { hooks } },
    }) as Task
  );
}

/** The answer to a request that is not streamed. */
async function whole<Told>(
  generation: Generation,
  encoder: EventEncoder<Told>,
  finish: () => Promise<void>,
  headersNow: () => Record<string, string>,
): Promise<Response> {
  for await (const event of generation) encoder.add(event);
  await finish();
  return json<unknown>(encoder.whole(), 200, headersNow());
}

/** By which a request is told something while it runs, how it stands to others, and what the server wants to know. */
type Signals =
  & Required<Pick<ChatRequest, "signal" | "answerNow">>
  & Pick<ChatRequest, "background" | "session" | "share" | "timeline">;

function hasTools({ kind, request }: Task): boolean {
  return kind === "chat" && (request.tools ?? []).length > 0;
}

function runAll(
  model: ChatModel,
  { tasks, answersPerPrompt }: Translation,
  signals: Signals,
  adapt: Endpoint<RequestBody, unknown>["adapt"],
): AsyncIterable<ChatEvent> {
  const [first, ...others] = tasks.map((task) => () => run(model, task, signals, adapt));
  return others.length === 0 ? first!() : mergeChoices([first!, ...others], answersPerPrompt);
}

function run(
  model: ChatModel,
  task: Task,
  signals: Signals,
  adapt: Endpoint<RequestBody, unknown>["adapt"],
): AsyncIterable<ChatEvent> {
  if (task.kind === "generate") return model.generate({ ...task.request, ...signals });
  const request = { ...task.request, ...signals };
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
