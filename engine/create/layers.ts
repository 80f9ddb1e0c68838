// The layers of a new model: blobs in the store, and the request's texts and parameters, which
// override those of the base model. weights.ts handles weights.

import { type BlobStore, encodeDocument, type Layer, MEDIA, sortedByName } from "../store/mod.ts";
import { mergeParameters, type Parameters } from "./parameters.ts";
import type { CreateRequest } from "./types.ts";

/** A layer whose blob is in the store. */
export interface MadeLayer extends Layer {
  /** Whether the blob existed before. */
  readonly existed: boolean;
}

/** Puts bytes into the store as a layer. */
export async function putLayer(
  blobs: BlobStore,
  mediaType: string,
  data: Uint8Array,
): Promise<MadeLayer> {
  return { mediaType, ...await blobs.put(data) };
}

/**
 * The layers with those of the request: a template, a system prompt, parameters and messages
 * replace existing ones (parameters one by one), licenses are added.
 *
 * @throws {RequestError} if a parameter has the wrong type
 */
export async function withOwnLayers(
  blobs: BlobStore,
  base: readonly MadeLayer[],
  { template, system, license, parameters, messages }: CreateRequest,
): Promise<MadeLayer[]> {
  const layers = [...base];
  const remove = (mediaType: string) => {
    const rest = layers.filter((layer) => layer.mediaType !== mediaType);
    layers.splice(0, Infinity, ...rest);
  };
  const replace = async (mediaType: string, data: Uint8Array) => {
    remove(mediaType);
    layers.push(await putLayer(blobs, mediaType, data));
  };
  if (template) {
    remove(MEDIA.prompt);
    await replace(MEDIA.template, encode(template));
  }
  if (system) await replace(MEDIA.system, encode(system));
  for (const text of license ?? []) {
    const layer = await putLayer(blobs, MEDIA.license, encode(text));
    if (!layers.some((other) => isSame(other, layer))) layers.push(layer);
  }
  if (parameters && Object.keys(parameters).length > 0) {
    const merged = mergeParameters(await readParameters(blobs, layers), parameters);
    if (Object.keys(merged).length === 0) remove(MEDIA.params);
    else await replace(MEDIA.params, encodeDocument(sortedByName(merged)));
  }
  if (messages?.length) {
    const turns = messages.map(({ role, content }) => ({ role, content }));
    await replace(MEDIA.messages, encodeDocument(turns));
  }
  return layers;
}

async function readParameters(blobs: BlobStore, layers: readonly Layer[]): Promise<Parameters> {
  const layer = layers.find(({ mediaType }) => mediaType === MEDIA.params);
  return layer ? JSON.parse(new TextDecoder().decode(await blobs.read(layer.digest))) : {};
}

function isSame(a: Layer, b: Layer): boolean {
  return a.mediaType === b.mediaType && a.digest === b.digest;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
