// POST /api/show.

import { Hono } from "../../../dependencies.ts";
import { readHeader, type StoreEntry } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { requireModelName } from "../model_name.ts";
import { showSchema } from "./schema.ts";
import { createValidator } from "../../body/validate.ts";
import { type ShownHeaders, toShow } from "./show.ts";
import { longJson } from "../../stream/json.ts";

/** Arrays with more elements are shown only on request. */
const LONGEST_ARRAY = 5;

const validate = createValidator(showSchema);

/** The route that shows a model. */
export function showRoutes({ store }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/api/show", async (context) => {
    const body = validate(await readJson(context));
    const name = requireModelName(body.model || body.name);
    context.set("model", name);
    const entry = await store.find(name);
    return longJson(toShow(entry, await readHeaders(entry, body.verbose ?? false), body));
  });
  return app;
}

async function readHeaders({ source }: StoreEntry, isVerbose: boolean): Promise<ShownHeaders> {
  if (source.kind === "remote") return {};
  const options = { longestArray: isVerbose ? Infinity : LONGEST_ARRAY };
  return {
    model: await readHeader(source.path, options),
    ...(source.projector && { projector: await readHeader(source.projector, options) }),
  };
}
