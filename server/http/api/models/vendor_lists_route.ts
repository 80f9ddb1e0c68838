// GET /v1/models and /v1/models/{name}, for the clients of both vendors that ask there.

import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { dialectOf } from "../dialect.ts";
import { requireModelName } from "../model_name.ts";
import {
  toAnthropicModel,
  toAnthropicModels,
  toOpenAiModel,
  toOpenAiModels,
} from "./vendor_lists.ts";
import { json } from "../../stream/json.ts";

/** Routes that list models as OpenAI and Anthropic do. */
export function modelListRoutes({ store }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  app.get("/v1/models", async ({ req }) => {
    const toModels = dialectOf(req) === "anthropic" ? toAnthropicModels : toOpenAiModels;
    return json(toModels(await store.list()));
  });

  // Names may have slashes in them, which clients may have escaped.
  app.get("/v1/models/:model{.+}", async ({ req }) => {
    const name = requireModelName(req.param("model"));
    const toModel = dialectOf(req) === "anthropic" ? toAnthropicModel : toOpenAiModel;
    return json(toModel(await store.find(name), name));
  });
  return app;
}
