// POST /api/create, /api/copy, /api/pull and /api/push, and DELETE /api/delete: bodies -> the
// engine's requests, and their progress as an answer. Format:
// https://github.com/ollama/ollama/blob/main/docs/api.md

import {
  createModel,
  type CreateRequest,
  ModelName,
  ModelNotFoundError,
} from "../../../../engine/mod.ts";
import { type Context, Hono } from "../../../dependencies.ts";
import { filled } from "../../../given.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError } from "../../errors.ts";
import { logFailure } from "../../failure_log.ts";
import { shownPath } from "../../middleware/variables.ts";
import { progressResponse } from "../../stream/progress.ts";
import { patiently } from "../handler.ts";
import type { OllamaProgress } from "./answer_schema.ts";
import {
  copySchema,
  type CreateBody,
  createSchema,
  deleteSchema,
  transferSchema,
} from "./schema.ts";

/** Members that are names of something, and the most characters that such a name may have. */
const NAMES = [
  ...["from", "draft", "quantize", "quantization", "renderer", "parser", "requires"] as const,
  "remote_host",
] as const;
const MAX_NAME = 4096;

/** @throws {HttpError} 400 for names that would be kept with the model and are none */
function checkNames(body: CreateBody): void {
  for (const member of NAMES) {
    if ((body[member]?.length ?? 0) <= MAX_NAME) continue;
    throw new HttpError(400, `${member}: over ${MAX_NAME} characters`, member);
  }
}

/**
 * Translates the body.
 *
 * @param model name of the new model
 * @throws {HttpError} 400 for what this version does not do
 */
function toCreateRequest(body: CreateBody, model: string): CreateRequest {
  const { license } = body;
  const rest = filled({
    from: body.from,
    files: body.files,
    adapters: body.adapters,
    controlVectors: body.control_vectors?.map(({ name, digest, scale }) => ({
      name,
      ...filled({ digest }),
      ...(scale != null && { scale }),
    })),
    draft: body.draft,
    draftFiles: body.draft_files,
    quantize: body.quantize || body.quantization,
    template: body.template,
    system: body.system,
    parameters: body.parameters,
    messages: body.messages?.map(({ role, content }) => ({ role, content: content ?? "" })),
    license: typeof license === "string" ? [license] : license,
    requires: body.requires,
    renderer: body.renderer,
    parser: body.parser,
    info: body.info,
    remoteHost: body.remote_host,
  });
  return { model, ...rest };
}

const validate = createValidator(createSchema);

/** The route that makes a model. */
export function createRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const { store, registry } = dependencies;
  const app = new Hono<AppEnvironment>();
  app.post("/api/create", async (context) => {
    const body = await validate(await readJson(context));
    const name = body.model || body.name || "";
    if (!ModelName.tryParse(name)) throw new HttpError(400, "invalid model name", "model");
    context.set("model", name);
    checkNames(body);
    const request = toCreateRequest(body, name);
    const pull = (from: string, signal: AbortSignal) => registry.pull(store, from, { signal });
    return await progress(
      context,
      dependencies,
      body.stream,
      (signal) => createModel(store, request, { signal, pull }),
    );
  });
  return app;
}

/** The progress of work, told in a stream or by its last record, before which white space may come. */
async function progress(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  stream: boolean | null | undefined,
  work: (signal: AbortSignal) => AsyncGenerator<OllamaProgress>,
): Promise<Response> {
  const respond = (signal: AbortSignal) =>
    progressResponse<OllamaProgress>(work, {
      stream,
      signal,
      onFailure: (error) => logFailure(dependencies.log, shownPath(context), error),
    });
  if (stream !== false) return await respond(context.req.raw.signal);
  return await patiently(context, dependencies, ({ signal }) => respond(signal));
}

// POST /api/copy and DELETE /api/delete: give models further names, and remove names.

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

// POST /api/pull and /api/push: models from and to registries.

const validateTransfer = createValidator(transferSchema);

/** Routes that fetch and send models. */
export function transferRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const { store, registry } = dependencies;
  const app = new Hono<AppEnvironment>();
  for (const direction of ["pull", "push"] as const) {
    app.post(`/api/${direction}`, async (context) => {
      const { name, insecure, stream } = await read(context);
      return await progress(
        context,
        dependencies,
        stream,
        (signal) => registry[direction](store, name, { signal, insecure }),
      );
    });
  }
  return app;
}

async function read(context: Context<AppEnvironment>) {
  const body = await validateTransfer(await readJson(context));
  const name = body.model || body.name || "";
  if (!ModelName.tryParse(name)) throw new HttpError(400, "invalid model name", "model");
  context.set("model", name);
  return { name, insecure: body.insecure ?? false, stream: body.stream };
}
