// The identity of a loaded model for KV blocks that outlive it: everything on which the keys and
// values of a text depend. A file in the store is identified by the digest of its content, any
// other file by its size and samples of its bytes, because a full digest would take as long as the
// load.

import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { DeviceProfile } from "../../kernels/mod.ts";
import { fill, type GgufFile, localFiles } from "../gguf/mod.ts";
import type { LoadOptions } from "../types/mod.ts";

/** Increased whenever keys and values are computed or laid out differently. */
const VERSION = 1;

/** Number of samples of a file, and bytes of each. */
const SAMPLES = { count: 512, bytes: 4096 };

const BLOB = /^sha256-[0-9a-f]{64}$/;

/** The facts on which the identity depends besides the load options. */
export interface LoadFacts {
  /** The device with the embeddings and the head. */
  device: DeviceProfile;
  /** Window in tokens, which changes the rotary frequencies of some models. */
  context: number;
}

/** The identity of a model loaded this way. Errors: those of reading its files. */
export async function cacheIdentity(
  gguf: GgufFile,
  { adapters = [], projector, exact = false, cacheType, ...split }: LoadOptions,
  { device, context }: LoadFacts,
): Promise<string> {
  return JSON.stringify({
    version: VERSION,
    files: await Promise.all(gguf.shards.map(fileIdentity)),
    adapters: await Promise.all(
      adapters.map(async ({ path, scale = 1 }) => [await fileIdentity(path), scale]),
    ),
    projector: projector === undefined ? null : await fileIdentity(projector),
    exact,
    context,
    cacheType: cacheType ?? null,
    split: [split.gpuLayers ?? null, split.gpuExpertLayers ?? null],
    device: [device.platform.name, device.description],
  });
}

async function fileIdentity(path: string): Promise<string> {
  const name = basename(path);
  if (BLOB.test(name)) return name;
  using file = await localFiles.open(path);
  const hash = createHash("sha256").update(`${file.size}`);
  const sample = new Uint8Array(SAMPLES.bytes);
  const last = Math.max(0, file.size - SAMPLES.bytes);
  for (let i = 0; i < SAMPLES.count; i++) {
    const read = fill(file, Math.floor(last * i / (SAMPLES.count - 1)), sample);
    hash.update(sample.subarray(0, read));
  }
  return hash.digest("hex");
}
