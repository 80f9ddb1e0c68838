// GET /api/tags and /api/ps: the models of the machine, and those in memory; and GET /v1/models in
// the forms of OpenAI and Anthropic. Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import {
  type BusyWorker,
  type DeviceRefusal,
  formatCount,
  type ModelInfo,
  type RunningModel,
  type StoreEntry,
} from "../../../../engine/mod.ts";
import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { json } from "../../stream/json.ts";
import { dialectOf } from "../dialect.ts";
import { withParameters } from "../defaults.ts";
import { requireModelName } from "../model_name.ts";
import { readOptions } from "../options.ts";
import type {
  AnthropicModel,
  AnthropicModels,
  OllamaDetails,
  OllamaProcess,
  OllamaProcesses,
  OllamaTag,
  OllamaTags,
  OpenAiModel,
  OpenAiModels,
  ToolKind,
} from "./answer_schema.ts";

/**
 * Years from now of the date that stands for "for ever"; clients recognise it because it is so far
 * ahead.
 */
const FOREVER_YEARS = 292;

/** An entry of /api/tags. */
function toTag(entry: StoreEntry, digest: string): OllamaTag {
  const { source } = entry;
  return {
    name: entry.name,
    model: entry.name,
    modified_at: entry.modified.toISOString(),
    size: entry.size,
    digest,
    details: toDetails(entry),
    capabilities: capabilitiesOf(entry.info),
    ...toolsOf(entry.info),
    ...(source.kind === "remote" && { remote_model: source.model, remote_host: source.host }),
  };
}

/** The abilities of a model, in the words by which clients decide what to offer. */
export function capabilitiesOf(info: ModelInfo): string[] {
  if (info.transcribes) return ["transcription"];
  if (info.isEmbeddingModel) return [info.ranks ? "rerank" : "embedding"];
  const {
    readsImages: vision,
    hears: audio = false,
    callsTools: tools,
    fillsInMiddle: insert,
    thinks: thinking,
  } = info;
  const { ranks: rerank = false } = info;
  const others = Object.entries({ vision, audio, tools, insert, thinking, rerank }).filter((
    [, has],
  ) => has);
  return ["completion", ...others.map(([name]) => name)];
}

/** The member that tells how a model calls tools. */
export function toolsOf({ callsTools }: ModelInfo): { tools?: ToolKind } {
  return callsTools ? { tools: callsTools === "generic" ? "generic" : "native" } : {};
}

/** An entry of /api/ps. */
function toProcess(running: RunningModel, digest: string, now: Date): OllamaProcess {
  const { entry, contextLength, progress, model } = running;
  const refusal = model?.refusal;
  const { weights, keyValueCache, scratch, onCpu = 0 } = running.memory;
  const size = weights + keyValueCache + scratch;
  return {
    name: entry.name,
    model: entry.name,
    size,
    digest,
    details: toDetails(entry),
    expires_at: expiry(running.expiresAt, now).toISOString(),
    size_vram: size - onCpu,
    context_length: contextLength,
    ...(refusal && { refused_device: toRefusal(refusal) }),
    ...(progress && { loading: { completed: progress.loaded, total: progress.total } }),
  };
}

function toRefusal(
  { device, faults }: DeviceRefusal,
): NonNullable<OllamaProcess["refused_device"]> {
  return { name: device, faults: faults.map(({ what, how }) => `${what}: ${how}`) };
}

/** A worker that does not answer, for /api/ps. Ollama has no such member, and its clients ignore it. */
function toBusyWorker(
  { name, since }: BusyWorker,
): NonNullable<OllamaProcesses["busy_workers"]>[number] {
  return { model: name, since: new Date(since).toISOString() };
}

/** A number of weights as the configs of models write it. */
const COUNT = /^\d+(\.\d+)?[KMBT]?$/i;

/** Facts of a model that every list has. The size is as its publisher writes it, if it is known. */
export function toDetails({ info, config }: StoreEntry): OllamaDetails {
  const published = config?.model_type;
  return {
    parent_model: "",
    format: "gguf",
    family: info.architecture,
    families: [info.architecture],
    parameter_size: typeof published === "string" && COUNT.test(published)
      ? published
      : formatCount(info.parameterCount),
    quantization_level: info.quantization,
    context_length: info.trainedContextLength,
    embedding_length: info.embeddingLength,
  };
}

function expiry(expiresAt: number, now: Date): Date {
  const forever = new Date(now);
  forever.setUTCFullYear(now.getUTCFullYear() + FOREVER_YEARS);
  return expiresAt < forever.getTime() ? new Date(expiresAt) : forever;
}

/** Routes about models. */
export function modelRoutes({ store, manager }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  app.get("/api/tags", async () => {
    const entries = await store.list();
    const models = entries.map(async (entry) => toTag(entry, await store.digest(entry)));
    return json<OllamaTags>({ models: await Promise.all(models) });
  });

  app.get("/api/ps", async () => {
    const now = new Date();
    const models = manager.running().map(async (running) =>
      toProcess(running, await store.digest(running.entry), now)
    );
    const busy = manager.busyWorkers.current.map(toBusyWorker);
    return json<OllamaProcesses>({
      models: await Promise.all(models),
      ...(busy.length > 0 && { busy_workers: busy }),
    });
  });
  return app;
}

// GET /v1/models and /v1/models/{name}: the same paths serve the clients of OpenAI and of Anthropic.
// Formats: https://platform.openai.com/docs/api-reference/models and
// https://docs.anthropic.com/en/api/models-list

/** What a list tells of a model beside the store's entry. */
interface Listed {
  entry: StoreEntry;
  /** As the client wrote it where it asked for one, else its name. */
  id: string;
  /** The window that a request gets, in tokens; undefined if that is not known. */
  window: number | undefined;
  status: OpenAiModel["status"]["value"];
}

export function toOpenAiModel({ entry, id, window, status }: Listed): OpenAiModel {
  const { name, modified, info, size } = entry;
  return {
    id,
    object: "model",
    created: Math.floor(modified.getTime() / 1000),
    owned_by: name.split("/").at(-2) ?? "library",
    display_name: name,
    description: descriptionOf(entry),
    capabilities: capabilitiesOf(info),
    ...toolsOf(info),
    meta: {
      ...(window !== undefined && { n_ctx: window }),
      n_ctx_train: info.trainedContextLength,
      n_embd: info.embeddingLength,
      ...(info.vocabularySize !== undefined && { n_vocab: info.vocabularySize }),
      n_params: info.parameterCount,
      size,
    },
    status: { value: status },
  };
}

function toAnthropicModel({ entry, id, window }: Listed): AnthropicModel {
  return {
    type: "model",
    id,
    display_name: entry.name,
    description: descriptionOf(entry),
    created_at: entry.modified.toISOString(),
    max_input_tokens: window ?? null,
  };
}

/** A line about a model: "llama, 5.18M weights in Q8_0: completion, tools". */
export function descriptionOf(entry: StoreEntry): string {
  const { family, parameter_size, quantization_level } = toDetails(entry);
  const abilities = capabilitiesOf(entry.info).join(", ");
  return `${family}, ${parameter_size} weights in ${quantization_level}: ${abilities}`;
}

/** The list for OpenAI's clients. */
function toOpenAiModels(models: readonly Listed[]): OpenAiModels {
  return { object: "list", data: models.map(toOpenAiModel) };
}

/** The list for Anthropic's clients: one page. */
function toAnthropicModels(models: readonly Listed[]): AnthropicModels {
  return {
    data: models.map(toAnthropicModel),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}

/** Routes that list models as OpenAI and Anthropic do. */
export function modelListRoutes({ store, manager }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  const listed = async (entry: StoreEntry, id = entry.name): Promise<Listed> => {
    const running = manager.running().find(({ entry: { name } }) => name === entry.name);
    const status = !running ? "unloaded" : running.model ? "loaded" : "loading";
    return { entry, id, window: await windowOf(manager, entry), status };
  };

  app.get("/v1/models", async ({ req }) => {
    const toModels = dialectOf(req) === "anthropic" ? toAnthropicModels : toOpenAiModels;
    const models = (await store.list()).map((entry) => listed(entry));
    return json<OpenAiModels | AnthropicModels>(toModels(await Promise.all(models)));
  });

  // Names may have slashes in them, which clients may have escaped.
  app.get("/v1/models/:model{.+}", async ({ req }) => {
    const name = requireModelName(req.param("model"));
    const toModel = dialectOf(req) === "anthropic" ? toAnthropicModel : toOpenAiModel;
    return json<OpenAiModel | AnthropicModel>(
      toModel(await listed(await store.find(name), name)),
    );
  });
  return app;
}

/**
 * The window in tokens that a request gets which names none; undefined if that is not known, or if
 * the model cannot be loaded, which must not hide the others of a list.
 */
export async function windowOf(
  manager: AppDependencies["manager"],
  entry: StoreEntry,
): Promise<number | undefined> {
  const { loading } = readOptions(withParameters({ options: {} }, entry).options);
  const { contextLength: set = Infinity } = loading;
  const trained = entry.info.trainedContextLength || Infinity;
  try {
    const window = await manager.windowOf(entry, loading) ?? Math.min(set, trained);
    return Number.isFinite(window) ? window : undefined;
  } catch {
    return undefined;
  }
}
