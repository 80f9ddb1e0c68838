// What was read of a model's files, for as long as their size and time of change stay the same.

import { parseShardName } from "../gguf/mod.ts";
import type { ModelInfo } from "../types.ts";
import type { StoreOptions } from "./types.ts";

/** Files up to this size are hashed whole, in well under a second. */
const FULL_DIGEST_BYTES = 64 * 2 ** 20;
/** Of other models, the digest covers this much from the start, the size and the time of change. */
const DIGEST_HEAD_BYTES = 2 ** 20;

/** A file in a state. */
export interface Stamped {
  readonly path: string;
  /** The file with its image encoder, if it is another one. */
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

  /** Takes what reads a header. */
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
      // What failed may be the disk or the count of open files, not the model: try again next time.
      delete facts.info;
      throw error;
    }
  }

  /**
   * SHA-256 of a file in hex; of a file over 64 MiB or a split model, of the first MiB, the size and
   * the time of change. Computed when first asked for.
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
