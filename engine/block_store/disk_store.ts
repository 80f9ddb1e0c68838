// Blocks of one model on disk: a file each, in a folder per model. A file is written beside and renamed,
// so that it is there whole or not at all, wherever the process ends; it is checked when it is read, and
// dropped where it is damaged. Files that were used longest ago go first, of whatever model; several
// processes may use one folder. Nothing here fails a request: what goes wrong is told, once.

import { join } from "node:path";
import { rootName } from "./block_name.ts";
import { BlockFileError, decodeBlockFile, encodeBlockFile } from "./block_file.ts";
import { bytesOf, type DiskOptions, type StoredBlock } from "./types.ts";

/** Endings of files: of blocks with recurrent states, of those without, and of what is being written. */
const [WITH_STATES, PLAIN, PART] = [".states", ".block", ".part"];

/** After this long, in milliseconds, nobody is writing a part any more. */
const STALE_PART = 60_000;

/** What is kept in memory until it is written, in bytes: then those who write have to wait. */
const MOST_PENDING = 64 * 2 ** 20;

/** A file counts as used again after this long, in milliseconds. */
const TOUCH_EVERY = 60_000;

/** When the folder is full, files go until this share of its bytes is left. */
const KEPT_SHARE = 0.9;

interface Known {
  readonly hasStates: boolean;
  /** When it was last counted as used. */
  touched: number;
}

interface Found {
  readonly path: string;
  readonly size: number;
  readonly time: number;
}

/** The blocks of a model in a folder. */
export class DiskStore {
  readonly #root: string;
  readonly #folder: string;
  readonly #options: DiskOptions;
  readonly #warn: (message: string) => void;
  readonly #known = new Map<string, Known>();
  readonly #pending = new Map<string, StoredBlock>();
  #pendingBytes = 0;
  #writing: Promise<void> | undefined;
  /** Bytes of all files in the folder, as far as is known. */
  #total = 0;
  /** Why nothing is written any more. */
  #broken = false;
  #toldOfDamage = false;

  private constructor(model: string, options: DiskOptions, warn: (message: string) => void) {
    this.#root = rootName(model);
    this.#folder = join(options.folder, this.#root);
    this.#options = options;
    this.#warn = warn;
  }

  /** Opens the blocks of a model. Where that cannot be, it has none and keeps none. */
  static async open(
    model: string,
    options: DiskOptions,
    warn: (message: string) => void,
  ): Promise<DiskStore> {
    const store = new DiskStore(model, options, warn);
    try {
      // What was said in conversations can be told from their keys and values.
      await Deno.mkdir(store.#folder, { recursive: true, mode: 0o700 });
      await store.#scan();
    } catch (error) {
      store.#break(error);
    }
    return store;
  }

  /** Whether there is a block of that name. */
  has(name: string): boolean {
    return this.#known.has(name) || this.#pending.has(name);
  }

  /** Whether there is one with recurrent states. */
  hasStates(name: string): boolean {
    return this.#pending.get(name)?.states !== undefined ||
      (this.#known.get(name)?.hasStates ?? false);
  }

  /** Writes a block some time soon. */
  put(name: string, block: StoredBlock): void {
    if (this.#broken) return;
    const before = this.#pending.get(name);
    if (before) this.#pendingBytes -= bytesOf(before);
    this.#pending.set(name, block);
    this.#pendingBytes += bytesOf(block);
    this.#writing ??= this.#write().finally(() => this.#writing = undefined);
  }

  /** Resolves when there is room for more to be written. */
  async room(): Promise<void> {
    while (this.#pendingBytes > MOST_PENDING && this.#writing) await this.#writing;
  }

  /** Resolves when all is written. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** A block, or undefined where there is none that is whole. */
  async read(name: string): Promise<StoredBlock | undefined> {
    const pending = this.#pending.get(name);
    const known = this.#known.get(name);
    if (pending || !known) return pending;
    const path = this.#pathOf(name, known.hasStates);
    try {
      return decodeBlockFile({ root: this.#root, name }, await Deno.readFile(path));
    } catch (error) {
      this.#known.delete(name);
      if (error instanceof Deno.errors.NotFound) return undefined; // another process dropped it
      await Deno.remove(path).catch(() => {});
      const state = error instanceof BlockFileError ? error.message : `${error}`;
      if (!this.#toldOfDamage) {
        this.#warn(
          `dropped a file of the cache on disk, ${path}: ${state}; its tokens are read again`,
        );
      }
      this.#toldOfDamage = true;
      return undefined;
    }
  }

  /** Counts blocks as used, given in the order of a text: later ones are dropped before those before them. */
  touch(names: readonly string[]): void {
    const now = Date.now();
    names.forEach((name, i) => {
      const known = this.#known.get(name);
      if (!known || now - known.touched < TOUCH_EVERY) return;
      known.touched = now;
      const time = (now + names.length - i) / 1000;
      Deno.utime(this.#pathOf(name, known.hasStates), time, time).catch(() => {});
    });
  }

  #pathOf(name: string, hasStates: boolean): string {
    return join(this.#folder, name + (hasStates ? WITH_STATES : PLAIN));
  }

  async #write(): Promise<void> {
    await Promise.resolve();
    for (const [name, block] of this.#pending) {
      try {
        await this.#writeFile(name, block);
      } catch (error) {
        this.#break(error);
      }
      if (this.#pending.get(name) !== block) continue; // there is a newer one
      this.#pending.delete(name);
      this.#pendingBytes -= bytesOf(block);
    }
  }

  async #writeFile(name: string, block: StoredBlock): Promise<void> {
    if (this.#broken) return;
    const hasStates = block.states !== undefined;
    const bytes = encodeBlockFile({ root: this.#root, name }, block);
    if (this.#total + bytes.length > this.#options.bytes) await this.#shrink(bytes.length);
    if (bytes.length > this.#options.bytes) return;
    const part = join(this.#folder, `${name}.${Deno.pid}.${crypto.randomUUID()}${PART}`);
    try {
      await Deno.writeFile(part, bytes, { mode: 0o600 });
      await Deno.rename(part, this.#pathOf(name, hasStates));
    } catch (error) {
      await Deno.remove(part).catch(() => {});
      throw error;
    }
    if (hasStates && this.#known.get(name)?.hasStates === false) {
      await Deno.remove(this.#pathOf(name, false)).catch(() => {});
    }
    this.#known.set(name, { hasStates, touched: Date.now() });
    this.#total += bytes.length;
  }

  /** Looks at all files, of whatever model. Parts that nobody writes any more are removed. */
  async #scan(): Promise<Found[]> {
    const found: Found[] = [];
    for await (const { name: folder, isDirectory } of Deno.readDir(this.#options.folder)) {
      if (!isDirectory) continue;
      const path = join(this.#options.folder, folder);
      for await (const entry of Deno.readDir(path)) {
        const file = await this.#look(join(path, entry.name));
        if (file) found.push(file);
      }
    }
    this.#total = found.reduce((sum, { size }) => sum + size, 0);
    return found;
  }

  async #look(path: string): Promise<Found | undefined> {
    const ending = [WITH_STATES, PLAIN, PART].find((ending) => path.endsWith(ending!));
    const info = ending && await Deno.stat(path).catch(() => undefined);
    if (!info) return undefined;
    const time = info.mtime?.getTime() ?? 0;
    if (ending === PART) {
      if (Date.now() - time > STALE_PART) await Deno.remove(path).catch(() => {});
      return undefined;
    }
    if (path.startsWith(this.#folder)) {
      const name = path.slice(this.#folder.length + 1, -ending.length);
      const hasStates = ending === WITH_STATES;
      const known = this.#known.get(name);
      if (!known?.hasStates) this.#known.set(name, { hasStates, touched: time });
    }
    return { path, size: info.size, time };
  }

  /** Removes what was used longest ago, so that `bytes` more fit. */
  async #shrink(bytes: number): Promise<void> {
    const found = (await this.#scan()).sort((a, b) => a.time - b.time);
    for (const { path, size } of found) {
      if (this.#total + bytes <= KEPT_SHARE * this.#options.bytes) break;
      await Deno.remove(path).catch(() => {});
      this.#total -= size;
      if (!path.startsWith(this.#folder)) continue;
      const name = path.slice(this.#folder.length + 1).replace(/\.\w+$/, "");
      const known = this.#known.get(name);
      if (known && path === this.#pathOf(name, known.hasStates)) this.#known.delete(name);
    }
  }

  /** Writes nothing more, and says why. */
  #break(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#warn(`nothing is kept on disk any more in ${this.#options.folder}: ${error}`);
  }
}
