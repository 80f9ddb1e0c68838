// A cache of headers and digests of model files. An entry is valid while the stamp of the files is the
// same.

import { fileSystem } from "../../host/mod.ts";
import { BoundedCache } from "./bounded_cache.ts";
import { parseShardName } from "../gguf/mod.ts";
import type { ModelInfo } from "../types/mod.ts";
import type { StoreOptions } from "./types.ts";

/** Largest files whose digest covers all of them, which takes well under a second. */
const FULL_DIGEST_BYTES = 64 * 2 ** 20;
/**
 * For larger files, the digest covers this many bytes from the beginning, the size and the time of
 * change.
 */
const DIGEST_HEAD_BYTES = 2 ** 20;

/** Bytes of headers' facts that are kept in memory: those of some ten thousand files. */
const MOST_FACTS = 16 * 2 ** 20;
/** Bytes that the facts of a file take besides those of its header, about. */
const ENTRY_BYTES = 512;

/** A file at a time. */
export interface Stamped {
  readonly path: string;
  /** The file with its image encoder, if that is a file of its own. */
  readonly projector?: string;
  /** In bytes. */
  readonly size: number;
  readonly modified: Date;
  /** What changes whenever the files do. */
  readonly stamp: string;
}

interface Facts {
  readonly stamp: string;
  info?: Promise<ModelInfo>;
  digest?: Promise<string>;
}

/** Remembers headers and digests of files. */
export class HeaderCache {
  readonly #inspect: StoreOptions["inspect"];
  readonly #facts = new BoundedCache<Facts>(MOST_FACTS);

  /** @param inspect reads a header */
  constructor(inspect: StoreOptions["inspect"]) {
    this.#inspect = inspect;
  }

  async info(file: Stamped): Promise<ModelInfo> {
    const facts = this.#factsOf(file);
    facts.info ??= this.#read(file, facts);
    try {
      return await facts.info;
    } catch (error) {
      // The failure may be the disk's or due to too many open files, so the next call tries again.
      delete facts.info;
      throw error;
    }
  }

  async #read(file: Stamped, facts: Facts): Promise<ModelInfo> {
    const { path, projector } = file;
    const info = projector === undefined
      ? await this.#inspect(path)
      : await this.#inspect(path, { projector });
    if (this.#facts.get(keyOf(file)) === facts) {
      this.#facts.set(keyOf(file), facts, ENTRY_BYTES + 2 * JSON.stringify(info).length);
    }
    return info;
  }

  /**
   * The digest of a model in hex. For files over 64 MiB and split models, SHA-256 of the first MiB,
   * the size and the time of change. Computed on the first call.
   *
   * @param whole computes the digest of other files
   */
  async digest(file: Stamped, whole: () => Promise<string>): Promise<string> {
    const isWhole = file.size <= FULL_DIGEST_BYTES && !parseShardName(file.path);
    const facts = this.#factsOf(file);
    facts.digest ??= isWhole ? whole() : digestOfHead(file);
    try {
      return await facts.digest;
    } catch (error) {
      // As with the header.
      delete facts.digest;
      throw error;
    }
  }

  #factsOf(file: Stamped): Facts {
    const { stamp } = file;
    let facts = this.#facts.get(keyOf(file));
    if (facts?.stamp !== stamp) this.#facts.set(keyOf(file), facts = { stamp }, ENTRY_BYTES);
    return facts;
  }
}

function keyOf({ path, projector }: Stamped): string {
  return JSON.stringify([path, projector]);
}

async function digestOfHead({ path, size, modified }: Stamped): Promise<string> {
  using file = await fileSystem().open(path);
  const stamp = new TextEncoder().encode(`${size}:${modified.getTime()}`);
  const bytes = new Uint8Array(DIGEST_HEAD_BYTES + stamp.length);
  const read = await file.read(bytes.subarray(0, DIGEST_HEAD_BYTES)) ?? 0;
  bytes.set(stamp, read);
  return digestOfBytes(bytes.subarray(0, read + stamp.length));
}

/** SHA-256 in hex. */
export async function digestOfBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
