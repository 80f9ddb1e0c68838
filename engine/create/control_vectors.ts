// The control vectors of a new model, which are copied into its layers: files that are blobs of the
// store, or vectors that the server has by name. Their scales are in the model's description.

import { GgufError, RequestError } from "../errors.ts";
import { MetadataReader, readGguf } from "../gguf/mod.ts";
import { type ControlVector, readControlVector } from "../hooks/mod.ts";
import { describeModel } from "../load/mod.ts";
import { canonicalDigest, type Layer, MEDIA } from "../store/mod.ts";
import { checkFiles, layerOf } from "./files.ts";
import type { MadeLayer } from "./layers.ts";
import type { RequestedControlVector } from "./types.ts";
import { type CreateContext, storeFile } from "./weights.ts";

/**
 * Makes layers of control vectors, in their order.
 *
 * @param layers of the model, of which the weights have to be there
 * @throws {RequestError} if a vector is not there, or does not fit the model
 */
export async function layersOfControlVectors(
  context: CreateContext,
  vectors: readonly RequestedControlVector[],
  layers: readonly Layer[],
): Promise<MadeLayer[]> {
  const { blobs, controlVectors } = context.store;
  const weights = layers.findLast(({ mediaType }) => mediaType === MEDIA.model);
  const model = weights && await readShape(blobs.pathOf(weights.digest));
  const made: MadeLayer[] = [];
  for (const { name, digest } of vectors) {
    const path = digest === undefined
      ? (await controlVectors.find(name)).path
      : await pathOfBlob(context, name, digest);
    const fault = model && faultOf(await readNamed(path, name), model);
    if (fault) throw new RequestError(`Cannot apply the control vector "${name}": ${fault}`);
    made.push(
      digest === undefined
        ? await storeFile(context, path, MEDIA.controlVector)
        : await layerOf(context, MEDIA.controlVector, digest),
    );
  }
  return made;
}

/** What of a model has to fit. */
interface Shape {
  readonly architecture: string;
  /** Numbers of the residual stream. */
  readonly width: number;
  readonly layers: number;
}

async function readShape(path: string): Promise<Shape> {
  const gguf = await readGguf(path);
  const { architecture, embeddingLength: width, isEmbeddingModel, transcribes } = describeModel(
    gguf,
  );
  if (isEmbeddingModel || transcribes) {
    throw new RequestError("Cannot apply control vectors: the model gives no answers to steer");
  }
  return {
    architecture,
    width,
    layers: new MetadataReader(gguf).count(`${architecture}.block_count`),
  };
}

function faultOf(vector: ControlVector, model: Shape): string | undefined {
  const { architecture, directions } = vector;
  if (architecture !== "" && architecture !== model.architecture) {
    return `it is for models of architecture "${architecture}", not "${model.architecture}"`;
  }
  for (const [layer, { length }] of directions) {
    if (length !== model.width) {
      return `its directions have ${length} numbers, and the model's layers ${model.width}`;
    }
    if (layer >= model.layers) {
      return `it has a direction for layer ${layer}, and the model's last one is ${
        model.layers - 1
      }`;
    }
  }
  return undefined;
}

async function pathOfBlob(context: CreateContext, name: string, digest: string): Promise<string> {
  await checkFiles(context, { [name]: digest });
  return context.store.blobs.pathOf(canonicalDigest(digest)!);
}

/** Reads a vector. Its errors contain the name of the file in the request. */
async function readNamed(path: string, name: string): Promise<ControlVector> {
  try {
    return await readControlVector(path);
  } catch (error) {
    if (!(error instanceof GgufError)) throw error;
    throw new RequestError(error.message.replaceAll(path, name), { cause: error });
  }
}
