// POST /v1/rerank, /v2/rerank, /rerank, /v1/reranking, /reranking and /api/rerank, and /v1/score, /score.
// All go the same way; they differ in their schemas and answers.

import { type Context, Hono } from "../../../dependencies.ts";
import type { RankResult } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator, type Validator } from "../../body/validate.ts";
import { withModel } from "../../generation/lease.ts";
import { json } from "../../stream/json.ts";
import { templateOf } from "../defaults.ts";
import { type RequestBody, translateRequest } from "../handler.ts";
import type { AnyRerankAnswer, NativeRerankAnswer, ScoreAnswer } from "./answer_schema.ts";
import {
  nativeRerankAnswer,
  type RankOutcome,
  type RankTranslation,
  rerankAnswer,
  scoreAnswer,
  translateRerank,
  translateScore,
} from "./body.ts";
import { rerankSchema, scoreSchema } from "./schema.ts";

/** The paths of Cohere, Jina, vLLM and llama-server. */
const RERANK_PATHS = ["/v1/rerank", "/v2/rerank", "/rerank", "/v1/reranking", "/reranking"];

const rerankBody = createValidator(rerankSchema);
const scoreBody = createValidator(scoreSchema);

/** Routes that tell how well documents answer a query. */
export function rerankRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  for (const path of RERANK_PATHS) {
    app.post(path, async (context) => {
      const { outcome, body } = await rank(context, dependencies, rerankBody, translateRerank);
      return json<AnyRerankAnswer>(rerankAnswer(outcome, body));
    });
  }
  app.post("/api/rerank", async (context) => {
    const { outcome, body } = await rank(context, dependencies, rerankBody, translateRerank);
    return json<NativeRerankAnswer>(nativeRerankAnswer(outcome, body));
  });
  for (const path of ["/v1/score", "/score"]) {
    app.post(path, async (context) => {
      const { outcome } = await rank(context, dependencies, scoreBody, translateScore);
      return json<ScoreAnswer>(scoreAnswer(outcome));
    });
  }
  return app;
}

async function rank<Body extends Pick<RequestBody, "model" | "options">>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  validate: Validator<Body>,
  translate: (body: Body) => RankTranslation,
): Promise<{ outcome: RankOutcome; body: Body }> {
  const started = performance.now();
  const checked = await validate.check(await readJson(context));
  const found = await translateRequest(context, dependencies, checked, translate);
  const { model, entry, translation: { requests, ...loading } } = found;
  const { signal } = context.req.raw;
  const template = templateOf(entry);
  const lora = dependencies.loraDefaults.get(entry.name);
  const acquire = { ...loading, signal };
  const outcome = await withModel(dependencies, model, acquire, async (loaded, load) => {
    const results: RankResult[] = [];
    for (const request of requests) {
      const asked = {
        ...lora && { lora },
        ...request,
        signal,
        ...(template !== undefined && { template }),
      };
      results.push(await loaded.rank(asked));
    }
    const tokens = results.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    context.set("promptTokens", tokens);
    const id = crypto.randomUUID();
    return { id, model, results, load, now: new Date(), total: performance.now() - started };
  });
  return { outcome, body: checked.body };
}
