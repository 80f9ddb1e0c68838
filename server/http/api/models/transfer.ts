// POST /api/pull and /api/push: models from and to registries.

import { type Context, Hono } from "../../../dependencies.ts";
import { ModelName } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { HttpError } from "../../errors.ts";
import { logFailure } from "../../failure_log.ts";
import { shownPath } from "../../middleware/variables.ts";
import { readJson } from "../../body/json_body.ts";
import { progressResponse } from "../../stream/progress.ts";
import type { OllamaProgress } from "./answer_schema.ts";
import { transferSchema } from "./schema.ts";
import { createValidator } from "../../body/validate.ts";

const validate = createValidator(transferSchema);

/** Routes that fetch and send models. */
export function transferRoutes({ store, registry, log }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  for (const direction of ["pull", "push"] as const) {
    app.post(`/api/${direction}`, async (context) => {
      const { name, insecure, stream } = await read(context);
      return await progressResponse<OllamaProgress>(
        (signal) => registry[direction](store, name, { signal, insecure }),
        {
          stream,
          signal: context.req.raw.signal,
          onFailure: (error) => logFailure(log, shownPath(context), error),
        },
      );
    });
  }
  return app;
}

async function read(context: Context<AppEnvironment>) {
  const body = await validate(await readJson(context));
  const name = body.model || body.name || "";
  if (!ModelName.tryParse(name)) throw new HttpError(400, "invalid model name", "model");
  context.set("model", name);
  return { name, insecure: body.insecure ?? false, stream: body.stream };
}
