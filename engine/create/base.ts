// The base of a new model, before the request's own texts and parameters: the layers of another
// model, which may have to be pulled, or of files, or none if another server has the model.

import { ModelNotFoundError, RequestError } from "../errors.ts";
import { readGguf } from "../gguf/mod.ts";
import { DRAFT_ADVICE, vocabularyFault } from "../load/mod.ts";
import {
  configOf,
  MEDIA,
  type ModelConfig,
  type ModelSource,
  type StoreEntry,
} from "../store/mod.ts";
import { remoteConfig } from "./config.ts";
import { layersOfControlVectors } from "./control_vectors.ts";
import { type FileLayers, layerOfDraft, layersOfAdapters, layersOfFiles } from "./files.ts";
import type { MadeLayer } from "./layers.ts";
import type { CreateRequest, Pull } from "./types.ts";
import { type CreateContext, storeFile, storeWeights } from "./weights.ts";

/** The layers of a base, and their description. */
export interface Base {
  readonly layers: readonly MadeLayer[];
  readonly config: ModelConfig;
}

/**
 * The base of a model.
 *
 * @param pull fetches a model that is not in the store
 * @throws {RequestError} if the request cannot be a model
 * @throws {ModelNotFoundError} if the model `from` is neither in the store nor can be pulled
 */
export async function baseOf(
  context: CreateContext,
  request: CreateRequest,
  pull: Pull | undefined,
): Promise<Base> {
  const { from, files = {}, adapters = {}, draft, draftFiles = {}, controlVectors } = request;
  const base = from ? await baseOfModel(context, from, request, pull) : undefined;
  if (base?.config.remote_host) {
    const isBare = [files, adapters, draftFiles, controlVectors ?? []].every(isEmpty) && !draft;
    if (isBare && !request.quantize) return base;
    throw new RequestError(
      `"${from}" runs on another server: files, adapters, control vectors, drafts and quantize ` +
        "have no effect there",
    );
  }
  const added = base && isEmpty(files) ? { layers: [] } : await layersOfFiles(context, files);
  const config = describe(base, added);
  const adapted = await layersOfAdapters(context, adapters, config.model_family);
  let layers = [...base?.layers ?? [], ...added.layers, ...adapted];
  const drafting = await draftLayer(context, request, pull);
  if (drafting) {
    await checkDraft(context, layers, drafting);
    layers = [...without(layers, MEDIA.draft), drafting];
  }
  if (!controlVectors) return { layers, config };
  const { control_scales: _, ...rest } = config;
  const scales = controlVectors.map(({ scale = 1 }) => scale);
  const steering = await layersOfControlVectors(context, controlVectors, layers);
  return {
    layers: [...without(layers, MEDIA.controlVector), ...steering],
    config: { ...rest as ModelConfig, ...(scales.length > 0 && { control_scales: scales }) },
  };
}

function without(layers: readonly MadeLayer[], kind: string): MadeLayer[] {
  return layers.filter(({ mediaType }) => mediaType !== kind);
}

/** The description of the model, which is that of the base or of the files. */
function describe(base: Base | undefined, { info }: FileLayers): ModelConfig {
  if (base && info) throw new RequestError("both 'from' and 'files' hold a model");
  if (base) return base.config;
  if (info) return configOf(info, []);
  throw new RequestError("no model among the files");
}

async function baseOfModel(
  context: CreateContext,
  from: string,
  { remoteHost }: CreateRequest,
  pull: Pull | undefined,
): Promise<Base> {
  if (remoteHost) {
    await context.store.admitRemote(remoteHost);
    return { layers: [], config: remoteConfig(remoteHost, from) };
  }
  const { name, source, manifest, config } = await findOrPull(context, from, pull);
  const layers = manifest?.layers.map((layer) => ({ ...layer, from: name, existed: true }));
  if (source.kind === "remote") {
    const { host, model } = source;
    return { layers: layers ?? [], config: config ?? remoteConfig(host, model) };
  }
  if (!layers || !config) return await baseOfBareFiles(context, source);
  const old = layers.find(({ mediaType }) => mediaType === MEDIA.model);
  if (!old || !context.quantization) return { layers, config };
  const stored = await storeWeights(context, { path: source.path, layer: old });
  const { model_type, file_type } = configOf(stored.info, []);
  return {
    layers: [stored.layer, ...layers.filter((layer) => layer !== old)],
    config: { ...config, model_type, file_type },
  };
}

/** The base from single files, which are copied because their owner may change them. */
async function baseOfBareFiles(
  context: CreateContext,
  { path, projector }: Extract<ModelSource, { kind: "files" }>,
): Promise<Base> {
  const { layer, info } = await storeWeights(context, { path });
  const layers = [layer];
  if (projector) layers.push(await storeFile(context, projector, MEDIA.projector));
  return { layers, config: configOf(info, []) };
}

/** The layer of the draft model that a request names, or gives as a file. */
async function draftLayer(
  context: CreateContext,
  { draft, draftFiles = {} }: CreateRequest,
  pull: Pull | undefined,
): Promise<MadeLayer | undefined> {
  if (!draft) return isEmpty(draftFiles) ? undefined : await layerOfDraft(context, draftFiles);
  if (!isEmpty(draftFiles)) throw new RequestError("both 'draft' and 'draft_files' name a model");
  const { name, source, manifest } = await findOrPull(context, draft, pull);
  if (source.kind === "remote") {
    throw new RequestError(`"${draft}" runs on another server: a draft model has to be here`);
  }
  const layer = manifest?.layers.findLast(({ mediaType }) => mediaType === MEDIA.model);
  if (!layer) return await storeFile(context, source.path, MEDIA.draft);
  return { ...layer, mediaType: MEDIA.draft, from: name, existed: true };
}

/**
 * Checks that a draft model fits, which otherwise the first load would tell.
 *
 * @throws {RequestError} if it has other tokens than the model
 */
async function checkDraft(
  { store: { blobs } }: CreateContext,
  layers: readonly MadeLayer[],
  drafting: MadeLayer,
): Promise<void> {
  const weights = layers.findLast(({ mediaType }) => mediaType === MEDIA.model);
  if (!weights) return;
  const [model, draft] = await Promise.all(
    [weights, drafting].map(({ digest }) => readGguf(blobs.pathOf(digest))),
  );
  const fault = vocabularyFault(model!, draft!);
  if (fault) throw new RequestError(`the draft model does not fit: ${fault}; ${DRAFT_ADVICE}`);
}

async function findOrPull(
  { store, report, signal }: CreateContext,
  from: string,
  pull: Pull | undefined,
): Promise<StoreEntry> {
  try {
    return await store.find(from);
  } catch (error) {
    if (!(error instanceof ModelNotFoundError) || !pull) throw error;
  }
  for await (const progress of pull(from, signal)) {
    if (progress.status !== "success") report(progress);
  }
  return await store.find(from);
}

function isEmpty(object: object): boolean {
  return Object.keys(object).length === 0;
}
