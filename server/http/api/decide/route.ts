// POST /v1/decisions and /api/decide: the same questions, and answers in two forms; and POST
// /v1/systemone, where both have a third one.

import { type Context, Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { type CheckedBody, createValidator } from "../../body/validate.ts";
import { withModel } from "../../generation/lease.ts";
import { json } from "../../stream/json.ts";
import { templateOf } from "../defaults.ts";
import { translateRequest } from "../handler.ts";
import type { DecideAnswer, Decision, SystemOneAnswers } from "./answer_schema.ts";
import { type DecideOutcome, nativeDecision, openAiDecision, translateDecide } from "./body.ts";
import { type DecideBody, decideSchema, systemOneSchema } from "./schema.ts";
import { asDecide, inWordsOf, systemOneAnswer } from "./system_one.ts";

const validate = createValidator(decideSchema);
const validateSystemOne = createValidator(systemOneSchema);

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
  app.post("/v1/systemone", async (context) => {
    const { body, unknown } = await validateSystemOne.check(await readJson(context));
    try {
      const outcome = await answerOf(context, dependencies, { body: asDecide(body), unknown });
      return json<SystemOneAnswers>(systemOneAnswer(outcome, body));
    } catch (error) {
      throw inWordsOf(error, body);
    }
  });
  return app;
}

async function decide(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
): Promise<DecideOutcome> {
  return await answerOf(context, dependencies, await validate.check(await readJson(context)));
}

async function answerOf(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  checked: CheckedBody<DecideBody>,
): Promise<DecideOutcome> {
  const started = performance.now();
  const found = await translateRequest(context, dependencies, checked, translateDecide);
  const { model, entry, translation: { request, ...loading } } = found;
  const { signal } = context.req.raw;
  const template = templateOf(entry);
  const lora = dependencies.loraDefaults.get(entry.name);
  const asked = {
    ...lora && { lora },
    ...request,
    signal,
    ...(template !== undefined && { template }),
  };
  const acquire = { ...loading, signal };
  return await withModel(dependencies, model, acquire, async (loaded, load) => {
    const result = await loaded.decide(asked);
    context.set("promptTokens", result.promptTokens);
    return { model, result, load, total: performance.now() - started };
  });
}
