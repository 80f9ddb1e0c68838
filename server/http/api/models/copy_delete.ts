// POST /api/copy and DELETE /api/delete: give models further names, and remove names.

import { Hono } from "../../../dependencies.ts";
import { ModelName, ModelNotFoundError } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { HttpError } from "../../errors.ts";
import { readJson } from "../../body/json_body.ts";
import { copySchema, deleteSchema } from "./schema.ts";
import { createValidator } from "../../body/validate.ts";

const validateCopy = createValidator(copySchema);
const validateDelete = createValidator(deleteSchema);

/** Routes that copy and remove models. Their answers have no body. */
export function copyDeleteRoutes({ store, manager }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  app.post("/api/copy", async (context) => {
    const { source, destination } = await validateCopy(await readJson(context));
    for (const [member, name] of Object.entries({ source, destination })) {
      if (name && ModelName.tryParse(name)) continue;
      throw new HttpError(400, `${member} "${name ?? ""}" is invalid`, member);
    }
    context.set("model", source!);
    await store.copy(source!, destination!).catch((error) => {
      if (!(error instanceof ModelNotFoundError)) throw error;
      throw new HttpError(404, `model "${source}" not found`, "source");
    });
    return context.body(null);
  });

  app.delete("/api/delete", async (context) => {
    const body = await validateDelete(await readJson(context));
    const name = body.model || body.name || "";
    if (!ModelName.tryParse(name)) throw new HttpError(400, `name "${name}" is invalid`, "model");
    context.set("model", name);
    // It is unloaded first, because its name is needed for that.
    await manager.unload(name).catch(() => {});
    await store.remove(name);
    return context.body(null);
  });
  return app;
}
