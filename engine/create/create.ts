// Makes models: a base (base.ts), the request's own layers, a description, and the manifest, which
// is written last. Until then the store is unchanged, and the new blobs are protected from removal.
// docs/api.md of the Ollama project defines requests.

import { RequestError } from "../errors.ts";
import { createGoTemplate, GoTemplateError } from "../go_template/mod.ts";
import { type Layer, MEDIA, type ModelConfig, ModelName, type ModelStore } from "../store/mod.ts";
import { type Base, baseOf } from "./base.ts";
import { encodeConfig, readRemoteHost, readVersion, withInfo } from "./config.ts";
import { putLayer, withOwnLayers } from "./layers.ts";
import { type CreateProgress, type CreateRequest, type Pull, streamProgress } from "./types.ts";
import { parseQuantization } from "./quantize/mod.ts";
import type { CreateContext } from "./weights.ts";

/** The options of createModel(). */
export interface CreateOptions {
  /** Aborting it ends the work. */
  readonly signal: AbortSignal;
  /** Fetches a model that is not in the store. Default: that is an error. */
  readonly pull?: Pull;
}

/**
 * Makes a model, and yields its progress; the last record is "success".
 *
 * @throws {RequestError} if the request cannot be carried out
 * @throws {ModelNotFoundError} if the model `from` is not found
 * @throws {StoreError} if a name is invalid, or the store cannot be written
 */
export async function* createModel(
  store: ModelStore,
  request: CreateRequest,
  { signal, pull }: CreateOptions,
): AsyncGenerator<CreateProgress> {
  const name = ModelName.parse(request.model);
  const checked = check(request);
  yield* streamProgress((report, aborted) =>
    store.protect(async () => {
      const quantization = checked.quantize ? parseQuantization(checked.quantize) : undefined;
      const context: CreateContext = {
        store,
        report,
        signal: aborted,
        ...(quantization && { quantization }),
      };
      await write(context, name, checked, await baseOf(context, checked, pull));
      report({ status: "success" });
    }), signal);
}

/** Checks the request for errors that show before any work is done. */
function check(request: CreateRequest): CreateRequest {
  const { from, files, template, requires, remoteHost, quantize } = request;
  if (!from && !files) throw new RequestError("neither 'from' or 'files' was specified");
  if (quantize) parseQuantization(quantize);
  if (template) checkTemplate(template);
  return {
    ...request,
    ...(requires && { requires: readVersion(requires) }),
    ...(remoteHost && { remoteHost: readRemoteHost(remoteHost) }),
  };
}

function checkTemplate(template: string): void {
  try {
    createGoTemplate(template);
  } catch (error) {
    if (!(error instanceof GoTemplateError)) throw error;
    throw new RequestError(`template error: ${error.message}`, { cause: error });
  }
}

/** Adds the request's own layers to the base, and writes the manifest. */
async function write(
  { store, report, signal }: CreateContext,
  name: ModelName,
  request: CreateRequest,
  base: Base,
): Promise<void> {
  const made = await withOwnLayers(store.blobs, base.layers, request);
  for (const { digest, existed } of made) {
    report({ status: `${existed ? "using existing layer" : "creating new layer"} ${digest}` });
  }
  const layers = made.map(({ existed: _, ...layer }): Layer => layer);
  const config = encodeConfig(changed(base.config, request), layers);
  signal.throwIfAborted();
  report({ status: "writing manifest" });
  const { existed: _, ...described } = await putLayer(store.blobs, MEDIA.config, config);
  await store.writeManifest(name, {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: described,
    layers,
  });
}

/** The description with the request's values. A template replaces the renderer of the base. */
function changed(
  { renderer: inherited, ...base }: ModelConfig,
  { template, renderer: own, parser, requires, info = {} }: CreateRequest,
): ModelConfig {
  const renderer = own || (template ? undefined : inherited);
  return withInfo({
    ...base,
    ...(renderer && { renderer }),
    ...(parser && { parser }),
    ...(requires && { requires }),
    ...(template && { template_source: "modelfile" as const }),
  }, info);
}
