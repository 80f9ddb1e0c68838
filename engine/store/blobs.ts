// The blobs in $MODELS/blobs: files named by the SHA-256 of their content. A blob is written
// completely or not at all: under another name first, then synced and renamed. collector.ts knows
// which blobs are in use.

import { fileSystem, join, operatingSystem, sha256 } from "../../host/mod.ts";
import { DigestError, StoreError } from "./errors.ts";
import {
  readIfThere,
  removeIfThere,
  statIfThere,
  syncFolder,
  writeAll,
  writing,
} from "./file_system.ts";
import type { StoreLock } from "./lock.ts";
import { canonicalDigest } from "./manifest.ts";
import type { BlobNotes } from "./notes.ts";

/**
 * Largest blob that is read as a whole, such as templates, licenses and conversations. In bytes.
 */
const MAX_READ = 64 * 2 ** 20;

/** Bytes of a write. Uploads come in small pieces, and each write has a latency. */
const WRITE_BYTES = 2 ** 20;

/** The result of adding content. */
export interface StoredBlob {
  /** `sha256:` and 64 digits. */
  digest: string;
  /** In bytes. */
  size: number;
  /** Whether it existed before. */
  existed: boolean;
}

export class BlobStore {
  /** Path of the folder. */
  readonly folder: string;
  readonly #lock: StoreLock;
  readonly #notes: BlobNotes;

  /**
   * @param folder may be missing until there is a blob
   * @param lock the lock of the store
   * @param notes the store's notes about blobs
   */
  constructor(folder: string, lock: StoreLock, notes: BlobNotes) {
    this.folder = folder;
    this.#lock = lock;
    this.#notes = notes;
  }

  /**
   * The path of a digest's blob, whether or not it exists.
   *
   * @throws {StoreError} if it is not a digest
   */
  pathOf(digest: string): string {
    return join(this.folder, requireDigest(digest).replace(":", "-"));
  }

  /** The path under which the blob may be written until it is complete. */
  partialPath(digest: string): string {
    return `${this.pathOf(digest)}-partial`;
  }

  /**
   * A path for content whose digest is not yet known. Files that a crash leaves there are removed
   * later.
   */
  temporaryPath(): string {
    return join(this.folder, `sha256-${crypto.randomUUID()}-temporary`);
  }

  /** Size of a blob in bytes; undefined if it does not exist or is not a file. */
  async sizeOf(digest: string): Promise<number | undefined> {
    const facts = await statIfThere(this.pathOf(digest));
    return facts?.isFile ? facts.size : undefined;
  }

  /**
   * The content of a blob of at most 64 MiB.
   *
   * @throws {StoreError} if it does not exist or is too large
   */
  async read(digest: string): Promise<Uint8Array<ArrayBuffer>> {
    const size = await this.sizeOf(digest);
    if (size !== undefined && size > MAX_READ) {
      throw new StoreError(`Cannot read blob ${digest}: ${size} bytes are more than ${MAX_READ}`);
    }
    const bytes = await readIfThere(this.pathOf(digest));
    if (!bytes) throw new StoreError(`Cannot read blob ${digest}: it is not in the store`);
    return bytes;
  }

  /**
   * Adds content. If its digest is given and exists already, the content is not read.
   *
   * @throws {DigestError} if the content has another digest than the given one
   * @throws {StoreError} if the folder cannot be written
   */
  async put(
    data: Uint8Array | ReadableStream<Uint8Array>,
    { digest, signal }: { digest?: string; signal?: AbortSignal } = {},
  ): Promise<StoredBlob> {
    const expected = digest === undefined ? undefined : requireDigest(digest);
    const stream = data instanceof Uint8Array ? ReadableStream.from([data]) : data;
    return await this.#writing(async () => {
      const known = expected === undefined ? undefined : await this.sizeOf(expected);
      if (expected !== undefined && known !== undefined) {
        await stream.cancel();
        return { digest: expected, size: known, existed: true };
      }
      const temporary = this.temporaryPath();
      try {
        const written = await writeHashed(temporary, stream, signal);
        if (expected && written.digest !== expected) {
          throw new DigestError(expected, written.digest);
        }
        const existed = await this.sizeOf(written.digest) !== undefined;
        if (!existed) await this.#place(temporary, written.digest);
        return { ...written, existed };
      } finally {
        await removeIfThere(temporary);
      }
    });
  }

  /**
   * Renames a complete and verified file to the blob of that digest. Both have to be on the same
   * file system.
   */
  async adopt(path: string, digest: string): Promise<void> {
    await this.#writing(async () => {
      await syncFile(path);
      await this.#place(path, digest);
    });
  }

  async #place(path: string, digest: string): Promise<void> {
    await this.#notes.added(digest, path);
    await fileSystem().rename(path, this.pathOf(digest));
    await syncFolder(this.folder);
  }

  #writing<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.share(() =>
      writing(async () => {
        await fileSystem().mkdir(this.folder, { recursive: true });
        return await work();
      })
    );
  }
}

async function syncFile(path: string): Promise<void> {
  // On Windows, only files that are open for writing can be synced.
  using file = await fileSystem().open(path, {
    read: true,
    write: operatingSystem() === "windows",
  });
  await file.sync();
}

function requireDigest(text: string): string {
  const digest = canonicalDigest(text);
  if (!digest) throw new StoreError(`invalid digest format: "${text}" is not sha256:<64 digits>`);
  return digest;
}

async function writeHashed(
  path: string,
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Omit<StoredBlob, "existed">> {
  const hash = sha256();
  let size = 0;
  using file = await fileSystem().open(path, { write: true, createNew: true });
  const gathered = new Uint8Array(WRITE_BYTES);
  let filled = 0;
  const write = async (bytes: Uint8Array) => {
    hash.update(bytes);
    size += bytes.length;
    await writeAll(file, bytes);
  };
  const sink = new WritableStream<Uint8Array>({
    async write(chunk) {
      if (filled + chunk.length > gathered.length) {
        await write(gathered.subarray(0, filled));
        filled = 0;
      }
      if (chunk.length > gathered.length) return await write(chunk);
      gathered.set(chunk, filled);
      filled += chunk.length;
    },
    close: () => write(gathered.subarray(0, filled)),
  });
  await stream.pipeTo(sink, signal && { signal });
  await file.sync();
  return { digest: `sha256:${hash.digest("hex")}`, size };
}
