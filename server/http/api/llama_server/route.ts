// llama-server's own routes: /props, /slots, /tokenize, /detokenize, /apply-template, /completion and
// /infill. That server has one model, or takes `model` in its router mode; here it may be left out
// where it is clear which one is meant.

import {
  type AdapterInfo,
  adapterScales as checkLora,
  type ChatModel,
  describeAdapters,
  readHeader,
  type StoreEntry,
} from "../../../../engine/mod.ts";
import { type Context, Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import type { Given } from "../../body/schema.ts";
import { createValidator, type Validator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { withModel } from "../../generation/lease.ts";
import { json, longJson } from "../../stream/json.ts";
import { sseResponse } from "../../stream/stream.ts";
import { withConversation, withParameters } from "../defaults.ts";
import { answer, type Endpoint, type RequestBody, translateRequest } from "../handler.ts";
import { readLora } from "../lora.ts";
import { modelOf } from "../model_name.ts";
import { windowOf } from "../models/lists.ts";
import { translateChat } from "../openai/chat/body.ts";
import { openAiChatSchema } from "../openai/schema.ts";
import { readOptions } from "../options.ts";
import type {
  LlamaAdapters,
  LlamaPrompt,
  LlamaProps,
  LlamaSlots,
  LlamaSuccess,
  LlamaText,
  LlamaTokens,
} from "./answer_schema.ts";
import {
  LlamaEncoder,
  type LlamaRecord,
  translateCompletion,
  translateInfill,
} from "./completion.ts";
import {
  llamaAdaptersBodySchema,
  type LlamaCompletionBody,
  llamaCompletionSchema,
  llamaDetokenizeSchema,
  llamaInfillSchema,
  llamaTokenizeSchema,
} from "./schema.ts";

/** Most characters, or tokens, that are split or joined at a time: other requests wait for that. */
const MOST_SPLIT = 2 ** 18;
/** Memory that an answer takes for each token of a text, which are as many as its bytes at most. */
const BYTES_PER_TOKEN = 200;

const validateTokenize = createValidator(llamaTokenizeSchema);
const validateDetokenize = createValidator(llamaDetokenizeSchema);
const validateChat = createValidator(openAiChatSchema);

const validateAdapters = createValidator(llamaAdaptersBodySchema);

const completion: Endpoint<RequestBody, LlamaRecord> = {
  validate: createValidator(llamaCompletionSchema),
  translate: translateCompletion,
  encoder: (head, body) => new LlamaEncoder(head, body as LlamaCompletionBody),
  stream: sseResponse,
};

const infill: Endpoint<RequestBody, LlamaRecord> = {
  ...completion,
  validate: createValidator(llamaInfillSchema),
  translate: translateInfill,
};

/** llama-server's routes. */
export function llamaServerRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const { store, manager, version, loraDefaults } = dependencies;
  const app = new Hono<AppEnvironment>();

  app.get("/props", async (context) => {
    const name = await modelOf(context, dependencies);
    const entry = await store.find(name);
    const { source, info } = entry;
    const model = manager.running().find((running) => running.entry.name === entry.name)?.model;
    const { slots } = model?.occupancy ?? {};
    const header = source.kind === "files" ? await readHeader(source.path) : undefined;
    const template = header?.metadata["tokenizer.chat_template"];
    return json<LlamaProps>({
      model_alias: name,
      model_path: name,
      build_info: `quern-${version}`,
      default_generation_settings: { n_ctx: await windowOf(manager, entry) ?? 0 },
      ...(slots && { total_slots: slots.used + slots.free }),
      modalities: { vision: info.readsImages, audio: info.hears ?? false },
      chat_template: typeof template === "string" ? template : "",
      is_loaded: model !== undefined,
    });
  });

  app.get("/slots", async (context) => {
    const { name } = await store.find(await modelOf(context, dependencies));
    const running = manager.running().find(({ entry }) => entry.name === name);
    const { used, free } = running?.model?.occupancy?.slots ?? { used: 0, free: 0 };
    return json<LlamaSlots>(
      Array.from({ length: used + free }, (_, id) => ({
        id,
        n_ctx: running!.contextLength,
        is_processing: id < used,
      })),
    );
  });

  app.get("/lora-adapters", async (context) => {
    const entry = await store.find(await modelOf(context, dependencies));
    const lora = loraDefaults.get(entry.name);
    const scaleOf = ({ id, name, scale }: AdapterInfo) =>
      lora ? lora.find((one) => one.id === id || one.id === name)?.scale ?? 0 : scale;
    const adapters = await adaptersOf(entry);
    return json<LlamaAdapters>(adapters.map((adapter) => ({
      id: adapter.id,
      path: adapter.name,
      name: adapter.name,
      scale: scaleOf(adapter),
    })));
  });

  app.post("/lora-adapters", async (context) => {
    const lora = readLora(await validateAdapters(await readJson(context)), "body") ?? [];
    const entry = await store.find(await modelOf(context, dependencies));
    checkLora(await adaptersOf(entry), { lora });
    loraDefaults.set(entry.name, lora.map(({ id, scale = 1 }) => ({ id, scale })));
    return json<LlamaSuccess>({ success: true });
  });

  /** What a model makes of a request that runs nothing. */
  const ask = async <T>(
    context: Context<AppEnvironment>,
    name: Given<string>,
    use: (model: ChatModel) => Promise<T>,
  ): Promise<T> => {
    const model = await modelOf(context, dependencies, name);
    const { loading } = readOptions(
      withParameters({ options: {} }, await store.find(model)).options,
    );
    const { signal } = context.req.raw;
    return await withModel(dependencies, model, { ...loading, signal }, use);
  };

  app.post("/tokenize", async (context) => {
    const body = await validateTokenize(await readJson(context));
    const { content: text, add_special: around, parse_special: special } = body;
    if (text == null) throw new HttpError(400, "content is required", "content");
    boundSplit("content", "characters", text.length);
    context.var.body.hold(BYTES_PER_TOKEN * new TextEncoder().encode(text).length);
    const tokens = await ask(
      context,
      body.model,
      (model) => model.tokenize({ text, around: around ?? false, special: special ?? true }),
    );
    if (!body.with_pieces) return longJson<LlamaTokens>({ tokens: tokens.map(({ id }) => id) });
    return longJson<LlamaTokens>({
      tokens: tokens.map(({ id, text, bytes }) => ({
        id,
        piece: text.includes("\uFFFD") ? bytes : text,
      })),
    });
  });

  app.post("/detokenize", async (context) => {
    const { model, tokens } = await validateDetokenize(await readJson(context));
    if (!tokens) throw new HttpError(400, "tokens is required", "tokens");
    boundSplit("tokens", "ids", tokens.length);
    const content = await ask(context, model, (model) => model.detokenize(tokens));
    return json<LlamaText>({ content });
  });

  app.post("/apply-template", async (context) => {
    const checked = await named(context, validateChat);
    const found = await translateRequest(context, dependencies, checked, translateChat);
    const [task] = found.translation.tasks;
    if (task?.kind !== "chat") throw new HttpError(400, "messages is required", "messages");
    const request = withConversation(task.request, found.entry);
    const { signal } = context.req.raw;
    const prompt = await withModel(
      dependencies,
      found.model,
      { ...found.translation, signal },
      (model) => model.renderChat({ ...request, signal }),
    );
    return json<LlamaPrompt>({ prompt });
  });

  /** A checked body, with the model that is meant. */
  const named = async <Body extends { model?: Given<string> }>(
    context: Context<AppEnvironment>,
    validate: Validator<Body>,
  ) => {
    const { body, unknown } = await validate.check(await readJson(context));
    return { body: { ...body, model: await modelOf(context, dependencies, body.model) }, unknown };
  };

  for (const [path, endpoint] of [["/completion", completion], ["/infill", infill]] as const) {
    app.post(
      path,
      async (context) =>
        await answer(context, dependencies, await named(context, endpoint.validate), endpoint),
    );
  }
  return app;
}

/** The adapters of a model, whether it is loaded or not. */
async function adaptersOf({ source }: StoreEntry): Promise<AdapterInfo[]> {
  if (source.kind !== "files") return [];
  return await describeAdapters(source.adapters.map((path) => ({ path })));
}

/** @throws {HttpError} 413 for more than are worked on at a time */
function boundSplit(member: string, unit: string, length: number): void {
  if (length <= MOST_SPLIT) return;
  throw new HttpError(413, `${member}: over ${MOST_SPLIT} ${unit}: send them in parts`, member);
}
