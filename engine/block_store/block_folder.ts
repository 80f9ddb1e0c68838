// The folder of blocks that all models share: how many bytes its files have together, and which of
// them go when it is full. Threads and processes that write to it take turns by a lock on a file,
// which also has the number of bytes, so that each knows what the others wrote. Of a file that is
// being written, nobody reads the name.

import { fileSystem, type FsFile, isSystemError, join, SEEK_START } from "../../host/mod.ts";
import type { DiskOptions } from "./types.ts";

/**
 * Extensions of files: blocks with recurrent states, blocks without, and files that are being
 * written.
 */
export const [WITH_STATES, PLAIN, PART] = [".states", ".block", ".part"] as const;

/** File in the folder with the bytes of all blocks as digits. */
const TOTAL_FILE = ".quern-bytes";

/** Fraction of the folder's limit that is left when files are removed because it is full. */
const KEPT_SHARE = 0.9;

/** Milliseconds by which the clocks of machines that share a folder may differ. */
const SKEW = 60_000;

export interface BlockFile {
  readonly path: string;
  readonly size: number;
  /** Time of its last use in milliseconds since 1970. */
  readonly time: number;
}

/** Bytes of all files of blocks in a folder, of all models; 0 if there is no such folder. */
export async function measureBlocks(folder: string): Promise<number> {
  let bytes = 0;
  for (const { size } of await filesIn(folder)) bytes += size;
  return bytes;
}

/** A folder of blocks within its bytes. */
export class BlockFolder {
  readonly #options: DiskOptions;

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /** All blocks. Parts of files are removed, since while nobody writes they are of no use. */
  async scan(): Promise<BlockFile[]> {
    return await this.#alone(async (file) => {
      const found = await this.#scan();
      await writeTotal(file, sumOf(found));
      return found;
    });
  }

  /**
   * Writes a file, after removing those of all models that were used longest ago if need be.
   *
   * @param path its path, under which a file is replaced
   * @param onRemoved receives the paths of removed files
   * @returns false if there is no room for it
   */
  async write(
    path: string,
    bytes: Uint8Array,
    onRemoved: (path: string) => void,
  ): Promise<boolean> {
    return await this.#alone(async (file) => {
      let total = await readTotal(file) ?? sumOf(await this.#scan());
      if (total + bytes.length > this.#options.bytes) {
        total = await this.#shrink(bytes.length, onRemoved);
      }
      if (total + bytes.length > this.#options.bytes) return false;
      // If the process ends before the file is whole, the number is too large, which the next scan
      // finds out.
      await writeTotal(file, total + bytes.length);
      const part = `${path}.${crypto.randomUUID()}${PART}`;
      try {
        await fileSystem().writeFile(part, bytes, { mode: 0o600 });
        const replaced = await sizeOf(path);
        await fileSystem().rename(part, path);
        total += bytes.length - replaced;
      } catch (error) {
        await fileSystem().remove(part).catch(() => {});
        throw error;
      } finally {
        await writeTotal(file, total);
      }
      return true;
    });
  }

  /** Removes a file. */
  async remove(path: string): Promise<void> {
    await this.#alone(async (file) => {
      const total = await readTotal(file);
      const size = await sizeOf(path);
      await fileSystem().remove(path);
      if (total !== undefined) await writeTotal(file, total - size);
    });
  }

  /** Removes the least recently used files, until `bytes` more fit. Gives the bytes that are left. */
  async #shrink(bytes: number, onRemoved: (path: string) => void): Promise<number> {
    const found = await this.#scan();
    let total = sumOf(found);
    if (total + bytes <= this.#options.bytes) return total;
    // What was used in the future was used before somebody set the clock right.
    const now = Date.now();
    const usedAt = ({ time }: BlockFile) => time > now + SKEW ? 0 : time;
    for (const file of found.sort((a, b) => usedAt(a) - usedAt(b))) {
      if (total + bytes <= KEPT_SHARE * this.#options.bytes) break;
      if (!await fileSystem().remove(file.path).then(() => true, () => false)) continue;
      total -= file.size;
      onRemoved(file.path);
    }
    return total;
  }

  async #scan(): Promise<BlockFile[]> {
    const found = await filesIn(this.#options.folder, [WITH_STATES, PLAIN, PART]);
    const parts = found.filter(({ path }) => path.endsWith(PART));
    for (const { path } of parts) await fileSystem().remove(path).catch(() => {});
    return found.filter((file) => !parts.includes(file));
  }

  /** Runs work while no other thread or process changes the folder. */
  async #alone<T>(work: (file: FsFile) => Promise<T>): Promise<T> {
    const path = join(this.#options.folder, TOTAL_FILE);
    const options = { read: true, write: true, create: true, mode: 0o600 };
    using file = await fileSystem().open(path, options);
    await file.lock(true);
    return await work(file);
  }
}

async function readTotal(file: FsFile): Promise<number | undefined> {
  const bytes = new Uint8Array(32);
  await file.seek(0, SEEK_START);
  const length = await file.read(bytes) ?? 0;
  const text = new TextDecoder().decode(bytes.subarray(0, length));
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

async function writeTotal(file: FsFile, total: number): Promise<void> {
  const bytes = new TextEncoder().encode(`${Math.max(0, total)}`);
  await file.seek(0, SEEK_START);
  await file.truncate(0);
  await file.write(bytes);
}

async function filesIn(
  folder: string,
  endings: readonly string[] = [WITH_STATES, PLAIN],
): Promise<BlockFile[]> {
  const found: BlockFile[] = [];
  try {
    for await (const { name, isDirectory } of fileSystem().readDir(folder)) {
      if (!isDirectory) continue;
      for await (const { name: file } of fileSystem().readDir(join(folder, name))) {
        if (!endings.some((ending) => file.endsWith(ending))) continue;
        const path = join(folder, name, file);
        const facts = await fileSystem().stat(path).catch(() => undefined);
        if (facts) found.push({ path, size: facts.size, time: facts.mtime?.getTime() ?? 0 });
      }
    }
  } catch (error) {
    if (!isSystemError(error, "NotFound")) throw error;
  }
  return found;
}

function sumOf(files: readonly BlockFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

async function sizeOf(path: string): Promise<number> {
  return (await fileSystem().stat(path).catch(() => undefined))?.size ?? 0;
}
