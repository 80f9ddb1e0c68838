// The partial file of a blob that is being downloaded: a sparse file, how far each of its parts has
// come, and its hash, which is computed as far as the file has no gaps. One process at a time has
// it open.

import { createHash, type Hash } from "node:crypto";
import { delay } from "./retry.ts";
import {
  type PartRecord,
  planParts,
  readRecords,
  recordedBytes,
  removeRecords,
  writeRecord,
} from "./parts.ts";

const HASH_STEP = 2 ** 20;

/** How to open a partial file. */
export interface PartialFileOptions {
  /** Size of the blob in bytes. */
  total: number;
  /** Size of a new part in bytes. */
  partBytes: number;
  /** Milliseconds between two notes of a part's progress. */
  recordInterval: number;
}

/** The partial file of a blob, open for this process alone. */
export class PartialFile implements Disposable {
  /** In the order of their offsets; they cover the file without gaps. */
  readonly parts: readonly PartRecord[];
  readonly #path: string;
  readonly #file: Deno.FsFile;
  readonly #options: PartialFileOptions;
  /** The records on disk, and the time at which they were written. */
  readonly #recorded = new Map<PartRecord, { completed: number; time: number }>();
  readonly #buffer = new Uint8Array(HASH_STEP);
  #hash: Hash = createHash("sha256");
  #hashed = 0;
  #hashing: Promise<void> | undefined;
  /**
   * The last operation on the file. Operations run one after the other, since they share its
   * position.
   */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    path: string,
    file: Deno.FsFile,
    parts: PartRecord[],
    options: PartialFileOptions,
  ) {
    this.#path = path;
    this.#file = file;
    this.parts = parts;
    this.#options = options;
  }

  /** Opens or creates the file; undefined while another process, or another pull, has it open. */
  static async tryOpen(
    path: string,
    options: PartialFileOptions,
  ): Promise<PartialFile | undefined> {
    const file = await Deno.open(path, { read: true, write: true, create: true });
    try {
      if (await file.tryLock(true) && await isAt(file, path)) {
        const { size } = await file.stat();
        // Records beside an empty file, or one of another size, belong to a file that is gone.
        if (size !== options.total) await removeRecords(path);
        const known = size === options.total ? await readRecords(path) : [];
        const parts = planParts(options.total, options.partBytes, known);
        if (size !== options.total) await file.truncate(options.total);
        if (parts.every(({ Completed }) => Completed === 0)) await removeRecords(path);
        return new PartialFile(path, file, parts, options);
      }
    } catch (error) {
      file.close();
      throw error;
    }
    file.close();
    return undefined;
  }

  /** Bytes that are there. */
  get completed(): number {
    return this.parts.reduce((sum, { Completed }) => sum + Completed, 0);
  }

  /**
   * Writes bytes that begin at `position` of the blob. What is there already is left as it is, and
   * so is what would leave a gap in a part.
   */
  async write(position: number, bytes: Uint8Array): Promise<void> {
    for (const part of this.parts) {
      const next = part.Offset + part.Completed;
      const end = Math.min(part.Offset + part.Size, position + bytes.length);
      if (position > next || next >= end) continue;
      await this.#exclusively(() => this.#writeAt(next, bytes, next - position, end - position));
      part.Completed = end - part.Offset;
      await this.#recordNowAndThen(part);
    }
    this.#followWithHash();
  }

  /** Discards what a stream has written to a part, because it cannot be trusted. */
  async rewind(part: PartRecord, completed: number): Promise<void> {
    if (part.Completed <= completed) return;
    await this.#hashIdle();
    part.Completed = completed;
    if (this.#hashed > part.Offset + completed) this.#restartHash();
    await this.record(part);
  }

  /** Notes on disk how far a part has come. */
  async record(part: PartRecord): Promise<void> {
    this.#recorded.set(part, { completed: part.Completed, time: Date.now() });
    await writeRecord(this.#path, part);
  }

  /** Notes on disk how far all parts have come, for a later download. */
  async recordAll(): Promise<void> {
    for (const part of this.parts) {
      const { completed } = this.#recorded.get(part) ?? { completed: 0 };
      if (part.Completed !== completed) await this.record(part);
    }
  }

  /** The digest of the file, once all parts are complete, like "sha256:…". */
  async digest(): Promise<string> {
    while (this.#hashed < this.#options.total) {
      this.#followWithHash();
      await this.#hashing;
    }
    return `sha256:${this.#hash.copy().digest("hex")}`;
  }

  /** Discards all that was downloaded; the file stays open, empty. */
  async discard(): Promise<void> {
    await this.settle();
    await removeRecords(this.#path);
    await this.#file.truncate(0);
    await this.#file.truncate(this.#options.total);
    this.#reset();
  }

  /** Deletes the records, as the file has become a blob. */
  async removeRecords(): Promise<void> {
    await removeRecords(this.#path);
  }

  /** Deletes the file and its records. */
  async remove(): Promise<void> {
    await Deno.remove(this.#path).catch(() => {});
    await removeRecords(this.#path);
    this.#reset();
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** Waits until nothing reads or writes the file any more. */
  async settle(): Promise<void> {
    await this.#hashIdle();
    await this.#last;
  }

  /** The hash may start anew only while idle: it would take in what was read for the old one. */
  async #hashIdle(): Promise<void> {
    while (this.#hashing) await this.#hashing.catch(() => {});
  }

  #reset(): void {
    for (const part of this.parts) part.Completed = 0;
    this.#recorded.clear();
    this.#restartHash();
  }

  #restartHash(): void {
    this.#hash = createHash("sha256");
    this.#hashed = 0;
  }

  async #recordNowAndThen(part: PartRecord): Promise<void> {
    const since = Date.now() - (this.#recorded.get(part)?.time ?? 0);
    if (part.Completed === part.Size || since >= this.#options.recordInterval) {
      await this.record(part);
    }
  }

  /** The offset of the first gap. */
  #frontier(): number {
    const open = this.parts.find(({ Completed, Size }) => Completed < Size);
    return open ? open.Offset + open.Completed : this.#options.total;
  }

  #followWithHash(): void {
    this.#hashing ??= this.#hashToFrontier().finally(() => this.#hashing = undefined);
    // The error is thrown where the digest is asked for.
    this.#hashing.catch(() => {});
  }

  async #hashToFrontier(): Promise<void> {
    const buffer = this.#buffer;
    for (let frontier; (frontier = this.#frontier()) > this.#hashed;) {
      const wanted = buffer.subarray(0, Math.min(HASH_STEP, frontier - this.#hashed));
      const count = await this.#exclusively(async () => {
        this.#file.seekSync(this.#hashed, Deno.SeekMode.Start);
        return await this.#file.read(wanted);
      });
      if (!count) throw new Error(`Cannot read back "${this.#path}": it has become shorter`);
      this.#hash.update(wanted.subarray(0, count));
      this.#hashed += count;
    }
  }

  async #writeAt(at: number, bytes: Uint8Array, from: number, to: number): Promise<void> {
    this.#file.seekSync(at, Deno.SeekMode.Start);
    while (from < to) from += await this.#file.write(bytes.subarray(from, to));
  }

  #exclusively<T>(operation: () => Promise<T>): Promise<T> {
    const done = this.#last.then(operation);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** Whether the open file is still at the path: it may have become a blob, or been removed. */
async function isAt(file: Deno.FsFile, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([file.stat(), Deno.stat(path).catch(() => undefined)]);
  return named !== undefined && opened.ino === named.ino && opened.dev === named.dev;
}

/**
 * Opens a partial file as soon as no one else has it open.
 *
 * @param isDone whether another process has completed the blob meanwhile
 * @param onWait called before each wait, with the bytes that are there
 * @returns undefined once `isDone`
 */
export async function openPartial(
  path: string,
  options: PartialFileOptions & {
    isDone: () => Promise<boolean>;
    onWait: (completed: number) => void;
    pollInterval: number;
    signal: AbortSignal;
  },
): Promise<PartialFile | undefined> {
  for (;;) {
    options.signal.throwIfAborted();
    const partial = await PartialFile.tryOpen(path, options);
    // Checked while this process has the lock, so that no other one can complete the file meanwhile.
    if (await options.isDone()) {
      await partial?.remove();
      partial?.[Symbol.dispose]();
      return undefined;
    }
    if (partial) return partial;
    options.onWait(await recordedBytes(path));
    await delay(options.pollInterval, options.signal);
  }
}
