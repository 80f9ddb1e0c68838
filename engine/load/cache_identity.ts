// The identity of a loaded model for KV blocks that outlive it: everything on which the keys and
// values of a text depend. A file is identified by the digest of its whole content, whatever its name
// says.

import type { DeviceProfile } from "../../kernels/mod.ts";
import type { GgufFile } from "../gguf/mod.ts";
import type { LoadOptions } from "../types/mod.ts";

/** Increased whenever keys and values are computed or laid out differently. */
const VERSION = 2;

/** SHA-256 of files in hex, by path. */
export type FileDigests = ReadonlyMap<string, string>;

/** The facts on which the identity depends besides the load options. */
export interface LoadFacts {
  /** The device with the embeddings and the head. */
  device: DeviceProfile;
  /** Window in tokens, which changes the rotary frequencies of some models. */
  context: number;
}

/** The identity of a model loaded this way. */
export function cacheIdentity(
  gguf: GgufFile,
  digests: FileDigests,
  { adapters = [], projector, exact = false, cacheType, ...split }: LoadOptions,
  { device, context }: LoadFacts,
): string {
  return JSON.stringify({
    version: VERSION,
    files: gguf.shards.map((path) => digests.get(path)),
    adapters: adapters.map(({ path, scale = 1 }) => [digests.get(path), scale]),
    projector: projector === undefined ? null : digests.get(projector),
    exact,
    context,
    cacheType: cacheType ?? null,
    split: [split.gpuLayers ?? null, split.gpuExpertLayers ?? null],
    device: [device.platform.name, device.description],
  });
}
