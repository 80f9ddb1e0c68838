// LM Studio's own API about models: /api/v1/models with load, unload and download.

import { Hono } from "../../../dependencies.ts";
import type { StoreEntry } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { withModel } from "../../generation/lease.ts";
import { json } from "../../stream/json.ts";
import { withParameters } from "../defaults.ts";
import { patiently } from "../handler.ts";
import { requireModelName } from "../model_name.ts";
import { descriptionOf, toDetails } from "../models/lists.ts";
import { readOptions } from "../options.ts";
import { Downloads } from "./downloads.ts";
import {
  type LmDownloading,
  lmDownloadSchema,
  type LmLoaded,
  lmLoadSchema,
  type LmModel,
  type LmModels,
  type LmUnloaded,
  lmUnloadSchema,
} from "./schema.ts";

const validateLoad = createValidator(lmLoadSchema);
const validateUnload = createValidator(lmUnloadSchema);
const validateDownload = createValidator(lmDownloadSchema);

/** LM Studio's routes about models. */
export function lmStudioRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const { store, manager, registry } = dependencies;
  const app = new Hono<AppEnvironment>();
  const downloads = new Downloads();
  // It never aborts: downloads go on when their client has gone.
  const { signal } = new AbortController();

  app.get("/api/v1/models", async () => {
    const running = new Map(
      manager.running().map(({ entry, contextLength }) => [entry.name, contextLength]),
    );
    const models = (await store.list()).map((entry) => toLmModel(entry, running.get(entry.name)));
    return json<LmModels>({ models });
  });

  app.post("/api/v1/models/load", async (context) => {
    const body = await validateLoad(await readJson(context));
    const model = requireModelName(body.model);
    context.set("model", model);
    const entry = await store.find(model);
    const { context_length: num_ctx, eval_batch_size: num_batch } = body;
    const options = { num_ctx, num_batch };
    const { loading } = readOptions(withParameters({ options }, entry).options);
    return await patiently(context, dependencies, ({ signal }) =>
      // Like there, what is loaded by name stays until it is unloaded.
      withModel(
        dependencies,
        model,
        { ...loading, keepAlive: Infinity, signal },
        (loaded, milliseconds) =>
          Promise.resolve(json<LmLoaded>({
            type: typeOf(entry),
            instance_id: entry.name,
            load_time_seconds: milliseconds / 1000,
            status: "loaded",
            ...(body.echo_load_config && {
              load_config: { context_length: loaded.contextLength },
            }),
          })),
      ));
  });

  app.post("/api/v1/models/unload", async (context) => {
    const { instance_id: id } = await validateUnload(await readJson(context));
    if (!id) throw new HttpError(400, "instance_id is required", "instance_id");
    const name = requireModelName(id);
    context.set("model", name);
    await manager.unload(name);
    return json<LmUnloaded>({ instance_id: id });
  });

  app.post("/api/v1/models/download", async (context) => {
    const { model, quantization } = await validateDownload(await readJson(context));
    const name = requireModelName(quantization ? `${model}:${quantization}` : model);
    context.set("model", name);
    const isThere = await store.find(name).then(() => true, () => false);
    if (isThere) return json<LmDownloading>({ status: "already_downloaded" });
    return json<LmDownloading>(
      downloads.begin(name, () => registry.pull(store, name, { signal })),
    );
  });

  app.get("/api/v1/models/download/status/:job_id", (context) => {
    const id = context.req.param("job_id");
    const state = downloads.find(id);
    if (state) return json<LmDownloading>(state);
    throw new HttpError(404, `job_id: there is no download "${id}"`, "job_id");
  });
  return app;
}

function toLmModel(entry: StoreEntry, window: number | undefined): LmModel {
  const { name, info, size } = entry;
  return {
    type: typeOf(entry),
    publisher: name.split("/").at(-2) ?? "library",
    key: name,
    display_name: name,
    architecture: info.architecture,
    quantization: {
      name: info.quantization,
      bits_per_weight: info.parameterCount > 0
        ? Math.round(80 * info.fileSize / info.parameterCount) / 10
        : 0,
    },
    size_bytes: size,
    params_string: toDetails(entry).parameter_size,
    loaded_instances: window === undefined
      ? []
      : [{ id: name, config: { context_length: window } }],
    max_context_length: info.trainedContextLength,
    format: "gguf",
    capabilities: { vision: info.readsImages, trained_for_tool_use: info.callsTools === true },
    description: descriptionOf(entry),
  };
}

function typeOf({ info }: StoreEntry): LmModel["type"] {
  return info.isEmbeddingModel ? "embedding" : "llm";
}
