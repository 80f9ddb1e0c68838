// Blocks of one model on disk: a file for each, in a folder per model. Files are renamed when
// complete, so that a crash leaves no partial ones; they are checked when read, and removed if
// damaged. The least recently used files of all models are removed first. Several processes may use
// one folder. Failures never fail a request; they are reported once.

import { join } from "node:path";
import { rootName } from "./block_name.ts";
import { BlockFileError, decodeBlockFile, encodeBlockFile } from "./block_file.ts";
import { bytesOf, type DiskOptions, type StoredBlock } from "./types.ts";

/**
 * Extensions of files: blocks with recurrent states, blocks without, and files that are being
 * written.
 */
const [WITH_STATES, PLAIN, PART] = [".states", ".block", ".part"];

/** Milliseconds after which a partial file counts as abandoned. */
const STALE_PART = 60_000;

/**
 * Most bytes in memory that are waiting to be written. Beyond this, those who add blocks have to
 * wait.
 */
const MOST_PENDING = 64 * 2 ** 20;

/** Milliseconds after which a file is marked as used again. */
const TOUCH_EVERY = 60_000;

/** Fraction of the folder's limit that is left when files are removed because it is full. */
const KEPT_SHARE = 0.9;

interface Known {
  readonly hasStates: boolean;
  /** Time of its last use. */
  touched: number;
}

interface Found {
  readonly path: string;
  readonly size: number;
  readonly time: number;
}

/** Bytes of all files of blocks in a folder, of all models; 0 if there is no such folder. */
export async function measureBlocks(folder: string): Promise<number> {
  let bytes = 0;
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (!isDirectory) continue;
      for await (const { name: file } of Deno.readDir(join(folder, name))) {
        if (!file.endsWith(WITH_STATES!) && !file.endsWith(PLAIN!)) continue;
        const info = await Deno.stat(join(folder, name, file)).catch(() => undefined);
        bytes += info?.size ?? 0;
      }
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return bytes;
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
  /** Whether writing has failed, so that nothing more is written. */
  #broken = false;
  #toldOfDamage = false;

  private constructor(model: string, options: DiskOptions, warn: (message: string) => void) {
    this.#root = rootName(model);
    this.#folder = join(options.folder, this.#root);
    this.#options = options;
    this.#warn = warn;
  }

  /** Opens the blocks of a model. If that is not possible, the store is empty and stays so. */
  static async open(
    model: string,
    options: DiskOptions,
    warn: (message: string) => void,
  ): Promise<DiskStore> {
    const store = new DiskStore(model, options, warn);
    try {
      // Not readable for others, because keys and values reveal what was said in conversations.
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

  /** Whether there is a block of that name with recurrent states. */
  hasStates(name: string): boolean {
    return this.#pending.get(name)?.states !== undefined ||
      (this.#known.get(name)?.hasStates ?? false);
  }

  /** Queues a block to be written. */
  put(name: string, block: StoredBlock): void {
    if (this.#broken) return;
    const before = this.#pending.get(name);
    if (before) this.#pendingBytes -= bytesOf(before);
    this.#pending.set(name, block);
    this.#pendingBytes += bytesOf(block);
    this.#writing ??= this.#write();
  }

  /** Resolves when more blocks can be queued. */
  async whenFree(): Promise<void> {
    while (this.#pendingBytes > MOST_PENDING && this.#writing) await this.#writing;
  }

  /** Resolves when all is written. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** A block, or undefined if there is none, or only a damaged one. */
  async read(name: string): Promise<StoredBlock | undefined> {
    const pending = this.#pending.get(name);
    const known = this.#known.get(name);
    if (pending || !known) return pending;
    const path = this.#pathOf(name, known.hasStates);
    try {
      return decodeBlockFile({ root: this.#root, name }, await Deno.readFile(path));
    } catch (error) {
      this.#known.delete(name);
      if (error instanceof Deno.errors.NotFound) return undefined; // another process has removed it
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

  /**
   * Marks blocks as used, given in the order of a text. Later ones of a text are removed before
   * earlier ones.
   */
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
      if (this.#pending.get(name) !== block) continue; // a newer one has replaced it
      this.#pending.delete(name);
      this.#pendingBytes -= bytesOf(block);
    }
    // In the same turn as the last look for pending blocks, so that a later one begins anew.
    this.#writing = undefined;
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

  /** Finds all files, of all models. Abandoned partial files are removed. */
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

  /** Removes the least recently used files, until `bytes` more fit. */
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

  /** Stops writing, and reports the reason. */
  #break(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#warn(`nothing is kept on disk any more in ${this.#options.folder}: ${error}`);
  }
}
