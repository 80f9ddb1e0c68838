// POST /api/tokenize and /api/plan: a text as tokens of a model, and what a load would take. Ours:
// Ollama has neither.

import { Hono } from "../../../dependencies.ts";
import type { AskedLoad } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { withModel } from "../../generation/lease.ts";
import { json, longJson } from "../../stream/json.ts";
import { withParameters } from "../defaults.ts";
import { requireModelName } from "../model_name.ts";
import { type OllamaOptions, readOptions } from "../options.ts";
import type { OllamaPlan, OllamaTokens } from "./answer_schema.ts";
import { planSchema, tokenizeSchema } from "./schema.ts";

const validateTokenize = createValidator(tokenizeSchema);
const validatePlan = createValidator(planSchema);

/** Most characters of a text to split. Other requests of the model wait for all of it. */
const MAX_TEXT = 2 ** 18;
/** Memory that the answer takes for each byte of the text, which is a token at most. */
const BYTES_PER_TOKEN = 200;

/** Routes that look into models. */
export function lookRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  app.post("/api/tokenize", async (context) => {
    const body = await validateTokenize(await readJson(context));
    const model = requireModelName(body.model || body.name);
    context.set("model", model);
    const { text = "" } = body;
    if (text !== null && text.length > MAX_TEXT) {
      throw new HttpError(413, `text: over ${MAX_TEXT} characters: send it in parts`, "text");
    }
    const { signal } = context.req.raw;
    context.var.body.hold(BYTES_PER_TOKEN * new TextEncoder().encode(text ?? "").length);
    const tokens = await withModel(
      dependencies,
      model,
      { ...await loadingOf(dependencies, model), signal },
      (loaded) => loaded.tokenize(text ?? ""),
    );
    return longJson<OllamaTokens>({ model, tokens });
  });

  app.post("/api/plan", async (context) => {
    const body = await validatePlan(await readJson(context));
    const model = requireModelName(body.model || body.name);
    context.set("model", model);
    const loading = await loadingOf(dependencies, model, body.options);
    const estimate = await dependencies.manager.estimate(model, loading);
    if (!estimate) {
      throw new HttpError(400, `nothing is known of the memory that "${model}" takes`, "model");
    }
    const { weights, keyValueCache, scratch, onCpu } = estimate.memory;
    return json<OllamaPlan>({
      model,
      weights,
      kv_cache: keyValueCache,
      scratch,
      context_length: estimate.contextLength,
      is_shrunk: estimate.isShrunk,
      ...(estimate.total < Infinity && { total: Math.floor(estimate.total) }),
      ...(estimate.systemTotal !== undefined && {
        on_cpu: onCpu ?? 0,
        system_total: Math.floor(estimate.systemTotal),
      }),
    });
  });
  return app;
}

/** How a model is loaded for these options, and for its own where they say nothing. */
async function loadingOf(
  { store }: AppDependencies,
  model: string,
  options?: OllamaOptions | null,
): Promise<AskedLoad> {
  return readOptions(withParameters({ options }, await store.find(model)).options).loading;
}
