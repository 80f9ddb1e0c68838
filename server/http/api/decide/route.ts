// POST /v1/decisions and /api/decide: the same questions, and answers in two forms.

import { type Context, Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { withModel } from "../../generation/lease.ts";
import { json } from "../../stream/json.ts";
import { templateOf } from "../defaults.ts";
import { translateRequest } from "../handler.ts";
import type { DecideAnswer, Decision } from "./answer_schema.ts";
import { type DecideOutcome, nativeDecision, openAiDecision, translateDecide } from "./body.ts";
import { decideSchema } from "./schema.ts";

const validate = createValidator(decideSchema);

/** Routes that answer questions by probabilities. */
export function decideRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post(
    "/v1/decisions",
    async (context) => json<Decision>(openAiDecision(await decide(context, dependencies))),
  );
  app.post(
    "/api/decide",
    async (context) => json<DecideAnswer>(nativeDecision(await decide(context, dependencies))),
  );
  return app;
}

async function decide(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
): Promise<DecideOutcome> {
  const started = performance.now();
  const checked = await validate.check(await readJson(context));
  const found = await translateRequest(context, dependencies, checked, translateDecide);
  const { model, entry, translation: { request, ...loading } } = found;
  const { signal } = context.req.raw;
  const template = templateOf(entry);
  const asked = { ...request, signal, ...(template !== undefined && { template }) };
  const acquire = { ...loading, signal };
  return await withModel(dependencies, model, acquire, async (loaded, load) => {
    const result = await loaded.decide(asked);
    context.set("promptTokens", result.promptTokens);
    return { model, result, load, total: performance.now() - started };
  });
}
