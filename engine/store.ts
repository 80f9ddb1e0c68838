// The models on this machine: a folder of .gguf files, one level of subfolders included.
// `stories260K.gguf` is `stories260K:latest`, `tiny/a.gguf` is `tiny/a:latest`, the files of a split
// model are one, without their numbers; characters that a model name cannot have become "-".
// Reads no weights: header facts come from `inspect`.

import { join, resolve } from "node:path";
import { ModelNotFoundError } from "./errors.ts";
import { parseShardName, shardPath } from "./gguf/mod.ts";
import type { ModelInfo } from "./types.ts";

/** Files up to this size are hashed whole, in well under a second. */
const FULL_DIGEST_BYTES = 64 * 2 ** 20;
/** Of other models, the digest covers this much from the start, the size and the time of change. */
const DIGEST_HEAD_BYTES = 2 ** 20;

/** A model of the store. */
export interface StoreEntry {
  /** Full name with tag, or the path by which it was asked for. */
  readonly name: string;
  /** Absolute path of the file; of a split model, its first shard. */
  readonly path: string;
  /** Size in bytes, of all shards together. */
  readonly size: number;
  /** When the last of its files was changed. */
  readonly modified: Date;
  readonly info: ModelInfo;
}

/** What a store needs. */
export interface StoreOptions {
  /** Folder of the models; it may be missing, then there are none. */
  folder: string;
  /** Reads the header of a file. */
  inspect: (path: string) => Promise<ModelInfo>;
  /**
   * Whether the path of a .gguf file anywhere on disk is a name too. Default false: whoever may
   * ask for models by name may then have any such file read.
   */
  allowPaths?: boolean;
  /** Told once of each file that a listing leaves out because its header cannot be read. */
  onBroken?: (path: string, error: unknown) => void;
}

/** What is remembered of a model for as long as its size and time of change stay the same. */
interface Facts {
  readonly stamp: string;
  info?: Promise<ModelInfo>;
  digest?: Promise<string>;
  reported?: boolean;
}

/** Finds models by name and lists them. */
export class ModelStore {
  readonly #options: StoreOptions;
  readonly #facts = new Map<string, Facts>();

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** All models whose header can be read, the latest first. */
  async list(): Promise<StoreEntry[]> {
    const entries: StoreEntry[] = [];
    for (const file of await modelFiles(this.#options.folder)) {
      const path = resolve(this.#options.folder, file);
      try {
        entries.push(await this.#entry(nameOf(file), path));
      } catch (error) {
        this.#report(path, error);
      }
    }
    return entries.sort((a, b) => b.modified.getTime() - a.modified.getTime());
  }

  /**
   * The model of that name: with or without `:latest`, in any case; or, if paths are allowed, the
   * path of a .gguf file with at least one separator in it.
   *
   * @throws {ModelNotFoundError} if there is none
   * @throws {GgufError} if its header cannot be read
   */
  async find(name: string): Promise<StoreEntry> {
    if (this.#options.allowPaths && isModelPath(name) && await isFile(name)) {
      return this.#entry(name, resolve(name));
    }
    const wanted = comparable(name);
    for (const file of await modelFiles(this.#options.folder)) {
      const found = nameOf(file);
      if (comparable(found) === wanted) {
        return this.#entry(found, resolve(this.#options.folder, file));
      }
    }
    throw new ModelNotFoundError(name);
  }

  /**
   * SHA-256 of the file in hex; of a file over 64 MiB or a split model, of the first MiB, the size
   * and the time of change. Computed when first asked for.
   */
  digest(entry: StoreEntry): Promise<string> {
    const facts = this.#factsOf(entry.path, entry.size, entry.modified);
    return facts.digest ??= digestFile(entry);
  }

  async #entry(name: string, path: string): Promise<StoreEntry> {
    const { size, modified } = await statModel(path);
    const facts = this.#factsOf(path, size, modified);
    facts.info ??= this.#options.inspect(path);
    try {
      return { name, path, size, modified, info: await facts.info };
    } catch (error) {
      // What failed may be the disk or the count of open files, not the model: try again next time.
      delete facts.info;
      throw error;
    }
  }

  #factsOf(path: string, size: number, modified: Date): Facts {
    const stamp = `${size}:${modified.getTime()}`;
    let facts = this.#facts.get(path);
    if (facts?.stamp !== stamp) this.#facts.set(path, facts = { stamp });
    return facts;
  }

  #report(path: string, error: unknown): void {
    const facts = this.#facts.get(path);
    if (facts?.reported) return;
    if (facts) facts.reported = true;
    this.#options.onBroken?.(path, error);
  }
}

/** Whether a name is written as the path of a .gguf file. */
export function isModelPath(name: string): boolean {
  return /[\\/]/.test(name) && /\.gguf$/i.test(name);
}

/** The .gguf files, of split models the first shards, relative to the folder, in a fixed order. */
async function modelFiles(folder: string): Promise<string[]> {
  const files = await ggufFiles(folder);
  const all = new Set(files);
  return files.filter((file) => {
    const shard = parseShardName(file);
    // A shard without its first one stays, so that what is wrong with it is reported.
    return !shard || shard.number === 1 || !all.has(shardPath(shard, 1));
  });
}

/** Size of a model's files together in bytes, and the time of the last change. */
async function statModel(path: string): Promise<Pick<StoreEntry, "size" | "modified">> {
  const shard = parseShardName(path);
  const others = Array.from({ length: shard?.count ?? 0 }, (_, i) => shardPath(shard!, i + 1))
    .filter((other) => other !== path);
  const stats = [await Deno.stat(path)];
  for (const result of await Promise.allSettled(others.map((other) => Deno.stat(other)))) {
    if (result.status === "fulfilled") stats.push(result.value);
  }
  return {
    size: stats.reduce((sum, { size }) => sum + size, 0),
    modified: new Date(Math.max(...stats.map(({ mtime }) => mtime?.getTime() ?? 0))),
  };
}

async function ggufFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await entriesOf(folder)) {
    if (isGguf(entry)) files.push(entry.name);
    else if (entry.isDirectory) {
      const inner = await entriesOf(join(folder, entry.name));
      files.push(...inner.filter(isGguf).map((file) => `${entry.name}/${file.name}`));
    }
  }
  return files.sort();
}

async function entriesOf(folder: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(folder));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function isGguf(entry: Deno.DirEntry): boolean {
  return (entry.isFile || entry.isSymlink) && /\.gguf$/i.test(entry.name);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

function nameOf(file: string): string {
  const base = parseShardName(file)?.base ?? file.replace(/\.gguf$/i, "");
  return base.replace(/[^\w./-]/g, "-") + ":latest";
}

function comparable(name: string): string {
  const tagged = /:[^/]*$/.test(name) ? name : `${name}:latest`;
  return tagged.toLowerCase();
}

async function digestFile({ path, size, modified }: StoreEntry): Promise<string> {
  if (size <= FULL_DIGEST_BYTES && !parseShardName(path)) return sha256(await Deno.readFile(path));
  using file = await Deno.open(path);
  const stamp = new TextEncoder().encode(`${size}:${modified.getTime()}`);
  const bytes = new Uint8Array(DIGEST_HEAD_BYTES + stamp.length);
  const read = await file.read(bytes.subarray(0, DIGEST_HEAD_BYTES)) ?? 0;
  bytes.set(stamp, read);
  return sha256(bytes.subarray(0, read + stamp.length));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
