// Control vectors on this machine: files NAME.gguf in a folder beside those of the models, which are
// written whole or not at all.

import { type FileInfo, fileSystem, join } from "../../host/mod.ts";
import { RequestError } from "../errors.ts";
import { type ControlVector, readControlVector, writeControlVector } from "../hooks/mod.ts";
import { BoundedCache } from "./bounded_cache.ts";
import { StoreError } from "./errors.ts";
import { entriesOf, isFile, removeIfThere, stampOf, statIfThere, writing } from "./file_system.ts";

const SUFFIX = ".gguf";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Bytes of vectors that are kept in memory. */
const MOST_KEPT = 64 * 2 ** 20;

/** A vector and its file. */
export interface StoredControlVector extends ControlVector {
  readonly name: string;
  readonly path: string;
  readonly modified: Date;
}

/** The control vectors of a folder. */
export class ControlVectors {
  readonly #folder: string;
  /** By path, and what tells its file from another one. */
  readonly #kept = new BoundedCache<ControlVector>(MOST_KEPT);

  /** Makes it without accessing any file. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All of them that can be read, by name. */
  async list(): Promise<StoredControlVector[]> {
    const entries = await entriesOf(this.#folder);
    const all: StoredControlVector[] = [];
    for (const entry of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
      const name = entry.name.slice(0, -SUFFIX.length);
      if (!entry.name.endsWith(SUFFIX) || !NAME.test(name)) continue;
      if (!await isFile(this.#folder, entry)) continue;
      const vector = await this.find(name).catch(() => undefined);
      if (vector) all.push(vector);
    }
    return all;
  }

  /** The vector of a name. Errors: RequestError if there is none; GgufError. */
  async find(name: string): Promise<StoredControlVector> {
    const path = this.#pathOf(name);
    const facts = await statIfThere(path);
    if (!facts) throw new RequestError(`Cannot find the control vector "${name}": there is none`);
    return { ...await this.#read(path, facts), name, path, modified: facts.mtime ?? new Date(0) };
  }

  /** The vector of a file anywhere. Errors: StoreError if it is not there; GgufError. */
  async read(path: string): Promise<ControlVector> {
    const facts = await statIfThere(path);
    if (facts) return await this.#read(path, facts);
    throw new StoreError(`Cannot read the control vector "${path}": there is no such file`);
  }

  async #read(path: string, facts: FileInfo): Promise<ControlVector> {
    const key = `${path} ${stampOf(facts)}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const vector = await readControlVector(path);
    this.#kept.set(key, vector, facts.size);
    return vector;
  }

  /** Adds a vector, or replaces the one of that name. Errors: RequestError, StoreError. */
  async write(name: string, vector: ControlVector): Promise<StoredControlVector> {
    const path = this.#pathOf(name);
    const beside = `${path}.${crypto.randomUUID()}.part`;
    await writing(async () => {
      await fileSystem().mkdir(this.#folder, { recursive: true });
      try {
        await writeControlVector(beside, vector);
        await fileSystem().rename(beside, path);
      } finally {
        await removeIfThere(beside);
      }
    });
    return await this.find(name);
  }

  /** Removes a vector. Errors: RequestError if there is none of that name. */
  async remove(name: string): Promise<void> {
    if (await writing(() => removeIfThere(this.#pathOf(name)))) return;
    throw new RequestError(`Cannot remove the control vector "${name}": there is none`);
  }

  /** @throws {RequestError} for what is no name */
  check(name: string): void {
    this.#pathOf(name);
  }

  #pathOf(name: string): string {
    if (NAME.test(name)) return join(this.#folder, name + SUFFIX);
    const rule = "a name has letters, digits, dots, dashes and underscores, at most 100";
    throw new RequestError(`Cannot use "${name}" as the name of a control vector: ${rule}`);
  }
}
