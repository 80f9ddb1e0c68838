// POST /api/create.

import { Hono } from "../../../dependencies.ts";
import { createModel, ModelName } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { HttpError } from "../../errors.ts";
import { readJson } from "../../body/json_body.ts";
import { progressResponse } from "../../stream/progress.ts";
import { createSchema } from "./schema.ts";
import { createValidator } from "../../body/validate.ts";
import { toCreateRequest } from "./create.ts";

const validate = createValidator(createSchema);

/** The route that makes a model. */
export function createRoutes({ store, registry }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/api/create", async (context) => {
    const body = validate(await readJson(context));
    const name = body.model || body.name || "";
    if (!ModelName.tryParse(name)) throw new HttpError(400, "invalid model name", "model");
    context.set("model", name);
    const request = toCreateRequest(body, name);
    const pull = (from: string, signal: AbortSignal) => registry.pull(store, from, { signal });
    return await progressResponse((signal) => createModel(store, request, { signal, pull }), {
      stream: body.stream,
      signal: context.req.raw.signal,
    });
  });
  return app;
}
