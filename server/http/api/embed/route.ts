// POST /api/embed, /api/embeddings, /v1/embeddings, and /embed of Text Embeddings Inference. All go the
// same way, from the body to a translation, a result and the answer. They differ in their schemas,
// translations and answers; and a server of the last one has one model, which no body names.

import { type Context, Hono } from "../../../dependencies.ts";
import type { ModelInfo } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { dialectOf } from "../dialect.ts";
import { translateRequest } from "../handler.ts";
import { modelOf } from "../model_name.ts";
import { readJson } from "../../body/json_body.ts";
import { loadOrUnload, withModel } from "../../generation/lease.ts";
import type {
  EmbedAnswer,
  LegacyEmbedAnswer,
  OpenAiEmbedAnswer,
  TeiEmbedAnswer,
} from "./answer_schema.ts";
import {
  type EmbedBody,
  embedSchema,
  type LegacyEmbedBody,
  legacyEmbedSchema,
  type OllamaEmbedBody,
  type OpenAiEmbedBody,
  openAiEmbedSchema,
  teiEmbedSchema,
} from "./schema.ts";
import { type CheckedBody, createValidator, type Validator } from "../../body/validate.ts";
import {
  embedAnswer,
  embedError,
  type EmbedOutcome,
  type EmbedTranslation,
  legacyEmbedAnswer,
  openAiEmbedAnswer,
  refuseTooMany,
  teiEmbedAnswer,
  translateEmbed,
  translateLegacyEmbed,
  translateOpenAiEmbed,
  translateTeiEmbed,
} from "./body.ts";
import { json, type LongBody, longJson } from "../../stream/json.ts";

/** How one of the endpoints reads and writes. */
interface Endpoint<T extends EmbedBody, Answer extends object> {
  validate: Validator<T>;
  translate: (body: T) => EmbedTranslation;
  answer: (outcome: EmbedOutcome, body: T) => LongBody<Answer>;
}

/** The body of POST /embed. */
const validateTei = createValidator(teiEmbedSchema);

const embed: Endpoint<OllamaEmbedBody, EmbedAnswer> = {
  validate: createValidator(embedSchema),
  translate: translateEmbed,
  answer: embedAnswer,
};

const legacy: Endpoint<LegacyEmbedBody, LegacyEmbedAnswer> = {
  validate: createValidator(legacyEmbedSchema),
  translate: translateLegacyEmbed,
  answer: legacyEmbedAnswer,
};

const openAi: Endpoint<OpenAiEmbedBody, OpenAiEmbedAnswer> = {
  validate: createValidator(openAiEmbedSchema),
  translate: translateOpenAiEmbed,
  answer: openAiEmbedAnswer,
};

/** Routes that turn texts into vectors. */
export function embedRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/api/embed", (context) => answer(context, dependencies, embed));
  app.post("/api/embeddings", (context) => answer(context, dependencies, legacy));
  app.post("/v1/embeddings", (context) => answer(context, dependencies, openAi));
  app.post("/embed", async (context) => {
    const { body, unknown } = await validateTei.check(await readJson(context));
    const model = await modelOf(context, dependencies, body.model);
    const checked = { body: { ...body, model }, unknown };
    const outcome = await outcomeOf(context, dependencies, checked, translateTeiEmbed);
    return json<TeiEmbedAnswer>(teiEmbedAnswer(outcome));
  });
  return app;
}

async function answer<T extends EmbedBody, Answer extends object>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  endpoint: Endpoint<T, Answer>,
): Promise<Response> {
  const checked = await endpoint.validate.check(await readJson(context));
  const outcome = await outcomeOf(context, dependencies, checked, endpoint.translate);
  return longJson<Answer>(endpoint.answer(outcome, checked.body));
}

async function outcomeOf<T extends EmbedBody>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  checked: CheckedBody<T>,
  translateBody: (body: T) => EmbedTranslation,
): Promise<EmbedOutcome> {
  const started = performance.now();
  try {
    const translate = (body: T, info: ModelInfo) => {
      const translation = translateBody(body);
      refuseTooMany(translation, info);
      return translation;
    };
    const { model, translation } = await translateRequest(
      context,
      dependencies,
      checked,
      translate,
    );
    const { result, load } = await run(dependencies, model, translation, context.req.raw.signal);
    context.set("promptTokens", result.promptTokens);
    return { model, result, load, total: performance.now() - started };
  } catch (error) {
    throw embedError(error, dialectOf(context.req));
  }
}

/** Runs a translation. Without inputs the model is loaded or unloaded, and nothing is computed. */
async function run(
  dependencies: AppDependencies,
  model: string,
  { inputs, options, ...loading }: EmbedTranslation,
  signal: AbortSignal,
): Promise<Pick<EmbedOutcome, "result" | "load">> {
  if (inputs.length === 0) {
    await loadOrUnload(dependencies, model, { ...loading, signal });
    return { result: { embeddings: [], promptTokens: 0 }, load: 0 };
  }
  return await withModel(dependencies, model, { ...loading, signal }, async (loaded, load) => {
    return { result: await loaded.embedWithUsage({ inputs, ...options, signal }), load };
  });
}
