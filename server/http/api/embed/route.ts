// POST /api/embed, /api/embeddings and /v1/embeddings. All go the same way: body -> plan -> result
// -> answer; they differ in their schema and in how bodies are translated.

import { type Context, Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { planRequest } from "../handler.ts";
import { readJson } from "../../body/json_body.ts";
import { loadOrUnload, withModel } from "../../generation/lending.ts";
import {
  type EmbedBody,
  embedSchema,
  type LegacyEmbedBody,
  legacyEmbedSchema,
  type OllamaEmbedBody,
  type OpenAiEmbedBody,
  openAiEmbedSchema,
} from "./schema.ts";
import { createValidator } from "../../body/validate.ts";
import {
  embedAnswer,
  embedError,
  type EmbedOutcome,
  type EmbedPlan,
  legacyEmbedAnswer,
  openAiEmbedAnswer,
  planEmbed,
  planLegacyEmbed,
  planOpenAiEmbed,
  refuseTooMany,
} from "./body.ts";
import { longJson } from "../../stream/json.ts";

/** How one of the endpoints reads and writes. */
interface Endpoint<T extends EmbedBody> {
  validate: (body: unknown) => T;
  plan: (body: T) => EmbedPlan;
  answer: (outcome: EmbedOutcome, body: T) => object;
}

const embed: Endpoint<OllamaEmbedBody> = {
  validate: createValidator(embedSchema),
  plan: planEmbed,
  answer: embedAnswer,
};

const legacy: Endpoint<LegacyEmbedBody> = {
  validate: createValidator(legacyEmbedSchema),
  plan: planLegacyEmbed,
  answer: legacyEmbedAnswer,
};

const openAi: Endpoint<OpenAiEmbedBody> = {
  validate: createValidator(openAiEmbedSchema),
  plan: planOpenAiEmbed,
  answer: openAiEmbedAnswer,
};

/** Routes that turn texts into vectors. */
export function embedRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/api/embed", (context) => answer(context, dependencies, embed));
  app.post("/api/embeddings", (context) => answer(context, dependencies, legacy));
  app.post("/v1/embeddings", (context) => answer(context, dependencies, openAi));
  return app;
}

async function answer<T extends EmbedBody>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  endpoint: Endpoint<T>,
): Promise<Response> {
  const started = performance.now();
  const body = endpoint.validate(await readJson(context));
  try {
    const { model, plan } = await planRequest(context, dependencies, body, (body, info) => {
      const plan = endpoint.plan(body);
      refuseTooMany(plan, info);
      return plan;
    });
    const { result, load } = await run(dependencies, model, plan, context.req.raw.signal);
    context.set("promptTokens", result.promptTokens);
    const total = performance.now() - started;
    return longJson(endpoint.answer({ model, result, total, load }, body));
  } catch (error) {
    throw embedError(error);
  }
}

/** What the plan comes to. Without inputs the model is loaded or unloaded, and nothing computed. */
async function run(
  dependencies: AppDependencies,
  model: string,
  { inputs, options, ...loading }: EmbedPlan,
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
