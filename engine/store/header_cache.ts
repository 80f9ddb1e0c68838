// A cache of headers and digests of model files. An entry is valid while size and time of change
// are the same.

import { parseShardName } from "../gguf/mod.ts";
import type { ModelInfo } from "../types/mod.ts";
import type { StoreOptions } from "./types.ts";

/** Largest file whose digest covers all of it, which takes well under a second. */
const FULL_DIGEST_BYTES = 64 * 2 ** 20;
/**
 * For larger files, the digest covers this many bytes from the beginning, the size and the time of
 * change.
 */
const DIGEST_HEAD_BYTES = 2 ** 20;

/** A file at a time. */
export interface Stamped {
  readonly path: string;
  /** The file with its image encoder, if that is a file of its own. */
  readonly projector?: string;
  /** In bytes. */
  readonly size: number;
  readonly modified: Date;
}

interface Facts {
  readonly stamp: string;
  info?: Promise<ModelInfo>;
  digest?: Promise<string>;
}

/** Remembers headers and digests of files. */
export class HeaderCache {
  readonly #inspect: StoreOptions["inspect"];
  readonly #facts = new Map<string, Facts>();

  /** @param inspect reads a header */
  constructor(inspect: StoreOptions["inspect"]) {
    this.#inspect = inspect;
  }

  /** The header of a file. */
  async info(file: Stamped): Promise<ModelInfo> {
    const facts = this.#factsOf(file);
    const { path, projector } = file;
    facts.info ??= projector === undefined
      ? this.#inspect(path)
      : this.#inspect(path, { projector });
    try {
      return await facts.info;
    } catch (error) {
      // The failure may be the disk's or due to too many open files, so the next call tries again.
      delete facts.info;
      throw error;
    }
  }

  /**
   * SHA-256 of a file in hex. For files over 64 MiB and split models, of the first MiB, the size
   * and the time of change. Computed on the first call.
   */
  digest(file: Stamped): Promise<string> {
    return this.#factsOf(file).digest ??= digestFile(file);
  }

  #factsOf({ path, projector, size, modified }: Stamped): Facts {
    const stamp = `${size}:${modified.getTime()}`;
    const key = JSON.stringify([path, projector]);
    let facts = this.#facts.get(key);
    if (facts?.stamp !== stamp) this.#facts.set(key, facts = { stamp });
    return facts;
  }
}

async function digestFile({ path, size, modified }: Stamped): Promise<string> {
  if (size <= FULL_DIGEST_BYTES && !parseShardName(path)) return sha256(await Deno.readFile(path));
  using file = await Deno.open(path);
  const stamp = new TextEncoder().encode(`${size}:${modified.getTime()}`);
  const bytes = new Uint8Array(DIGEST_HEAD_BYTES + stamp.length);
  const read = await file.read(bytes.subarray(0, DIGEST_HEAD_BYTES)) ?? 0;
  bytes.set(stamp, read);
  return sha256(bytes.subarray(0, read + stamp.length));
}

/** SHA-256 in hex. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
