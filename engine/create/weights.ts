// The weights of a new model: from a GGUF file, which is quantized on request, to a layer of the
// store. A split model becomes one file, since blobs have no names by which shards could be found.

import { fileSystem, sha256 } from "../../host/mod.ts";
import { RequestError } from "../errors.ts";
import { readGguf } from "../gguf/mod.ts";
import { describeModel } from "../load/mod.ts";
import { MEDIA, type ModelStore } from "../store/mod.ts";
import type { ModelInfo } from "../types/mod.ts";
import { doFileWork } from "./file_work.ts";
import type { MadeLayer } from "./layers.ts";
import { paced, type Report } from "./types.ts";
import type { QuantizationName } from "./quantize/mod.ts";
import { withTemporaryFile } from "./staging.ts";

/** The context in which a model is made. */
export interface CreateContext {
  readonly store: ModelStore;
  readonly report: Report;
  readonly signal: AbortSignal;
  /** Type to which weights are quantized. Default: they are not. */
  readonly quantization?: QuantizationName;
}

/** A GGUF file. For a split model, its first shard. */
export interface WeightsFile {
  readonly path: string;
  /** Its layer, if it is a blob already. */
  readonly layer?: MadeLayer;
  /** Whether it is on the store's file system and may be moved. */
  readonly isTemporary?: boolean;
}

export interface StoredWeights {
  readonly layer: MadeLayer;
  readonly info: ModelInfo;
}

/** Unquantized types, from which others are made. */
const FLOAT_TYPES = ["F32", "F16", "BF16"];

/**
 * Makes a layer of a GGUF file.
 *
 * @throws {RequestError} if the weights cannot be quantized to the requested type
 * @throws {GgufError} if the file is invalid
 */
export async function storeWeights(
  context: CreateContext,
  { path, layer, isTemporary = false }: WeightsFile,
): Promise<StoredWeights> {
  const { quantization, signal, report } = context;
  const gguf = await readGguf(path);
  const info = describeModel(gguf);
  if (quantization && quantization !== info.quantization) {
    checkQuantizable(info);
    const status = `quantizing ${info.quantization} model to ${quantization}`;
    const onProgress = paced(report, { status, digest: "0" });
    const work = { kind: "quantize", from: path, type: quantization } as const;
    return await storeMade(context, (to) => doFileWork({ ...work, to }, { onProgress, signal }));
  }
  if (layer) return { layer, info };
  if (isTemporary) return { layer: await adoptFile(context, path), info };
  if (gguf.shards.length > 1) {
    const onProgress = paced(report, { status: "joining files" });
    const work = { kind: "join", from: path } as const;
    return await storeMade(context, (to) => doFileWork({ ...work, to }, { onProgress, signal }));
  }
  return { layer: await storeFile(context, path, MEDIA.model), info };
}

/** Makes a layer of a file by copying it. */
export async function storeFile(
  { store, signal, report }: CreateContext,
  path: string,
  mediaType: string,
): Promise<MadeLayer> {
  const readable = await openCounted(path, paced(report, { status: "copying files" }));
  return { mediaType, ...await store.blobs.put(readable, { signal }) };
}

/** The bytes of a file, with reports of progress. */
async function openCounted(
  path: string,
  onProgress: (done: number, total: number) => void,
): Promise<ReadableStream<Uint8Array>> {
  const { size } = await fileSystem().stat(path);
  const { readable } = await fileSystem().open(path);
  let done = 0;
  return readable.pipeThrough(
    new TransformStream({
      transform(bytes: Uint8Array, controller) {
        onProgress(done += bytes.length, size);
        controller.enqueue(bytes);
      },
    }),
  );
}

/** Makes a layer of the GGUF file that `write` writes. */
async function storeMade(
  context: CreateContext,
  write: (path: string) => Promise<void>,
): Promise<StoredWeights> {
  return await withTemporaryFile(context.store.blobs, async (path) => {
    await write(path);
    const info = describeModel(await readGguf(path));
    return { layer: await adoptFile(context, path), info };
  });
}

/** Moves a file into the store. */
async function adoptFile(
  { store, signal, report }: CreateContext,
  path: string,
): Promise<MadeLayer> {
  const readable = await openCounted(path, paced(report, { status: "hashing model" }));
  const { digest, size } = await hash(readable, signal);
  const existed = await store.blobs.sizeOf(digest) !== undefined;
  if (!existed) await store.blobs.adopt(path, digest);
  return { mediaType: MEDIA.model, digest, size, existed };
}

async function hash(
  bytes: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<{ digest: string; size: number }> {
  const hash = sha256();
  let size = 0;
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    hash.update(chunk);
    size += chunk.length;
  }
  return { digest: `sha256:${hash.digest("hex")}`, size };
}

function checkQuantizable({ quantization }: ModelInfo): void {
  if (FLOAT_TYPES.includes(quantization)) return;
  throw new RequestError(
    `quantization is only supported for ${FLOAT_TYPES.join(", ")} models, not ${quantization}`,
  );
}
