// Blocks of one model on disk: a file for each, in a folder per model. Files are renamed when
// complete, so that a crash leaves no partial ones; they are checked when read, and removed if
// damaged. block_folder.ts keeps the folder within its bytes. Failures never fail a request; they are
// reported, and after a while it is tried again.

import { basename, dirname, fileSystem, isSystemError, join, sha256 } from "../../host/mod.ts";
import { BlockFolder, PLAIN, WITH_STATES } from "./block_folder.ts";
import { rootName } from "./block_name.ts";
import { bytesOf, type DiskOptions, type StoredBlock } from "./types.ts";

/**
 * Most bytes in memory that are waiting to be written. Beyond this, those who add blocks have to
 * wait.
 */
const MOST_PENDING = 64 * 2 ** 20;

/** Milliseconds after which a file is marked as used again. */
const TOUCH_EVERY = 60_000;

/** Milliseconds after a failure until something is written again. */
const RETRY_AFTER = 30_000;

interface Known {
  readonly hasStates: boolean;
  /** Time of its last use. */
  touched: number;
}

/** The blocks of a model in a folder. */
export class DiskStore {
  readonly #root: string;
  readonly #folder: string;
  readonly #options: DiskOptions;
  readonly #shared: BlockFolder;
  readonly #warn: (message: string) => void;
  readonly #known = new Map<string, Known>();
  readonly #pending = new Map<string, StoredBlock>();
  #pendingBytes = 0;
  #writing: Promise<void> | undefined;
  /** Whether the folder was made and looked through, and nothing has failed since. */
  #isOpen = false;
  /** Time until which nothing is written, on the clock of performance.now(). */
  #pausedUntil = -Infinity;
  #toldOfFailure = false;
  #toldOfDamage = false;

  private constructor(model: string, options: DiskOptions, warn: (message: string) => void) {
    this.#root = rootName(model);
    this.#folder = join(options.folder, this.#root);
    this.#options = options;
    this.#shared = new BlockFolder(options);
    this.#warn = warn;
  }

  /** Opens the blocks of a model. If that is not possible, the store is empty until it is. */
  static async open(
    model: string,
    options: DiskOptions,
    warn: (message: string) => void,
  ): Promise<DiskStore> {
    const store = new DiskStore(model, options, warn);
    await store.#open().catch((error) => store.#pause(error));
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
    if (this.#isPaused) return;
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
      return decodeBlockFile({ root: this.#root, name }, await fileSystem().readFile(path));
    } catch (error) {
      this.#known.delete(name);
      if (isSystemError(error, "NotFound")) return undefined; // another process has removed it
      await this.#shared.remove(path).catch(() => {});
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
      if (!known || Math.abs(now - known.touched) < TOUCH_EVERY) return;
      known.touched = now;
      const time = (now + names.length - i) / 1000;
      fileSystem().utime(this.#pathOf(name, known.hasStates), time, time).catch(() => {});
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
        this.#pause(error);
      }
      if (this.#pending.get(name) !== block) continue; // a newer one has replaced it
      this.#pending.delete(name);
      this.#pendingBytes -= bytesOf(block);
    }
    // In the same turn as the last look for pending blocks, so that a later one begins anew.
    this.#writing = undefined;
  }

  async #writeFile(name: string, block: StoredBlock): Promise<void> {
    if (this.#isPaused) return;
    if (!this.#isOpen) await this.#open();
    const hasStates = block.states !== undefined;
    const bytes = encodeBlockFile({ root: this.#root, name }, block);
    const path = this.#pathOf(name, hasStates);
    if (!await this.#shared.write(path, bytes, (path) => this.#forget(path))) return;
    if (hasStates && this.#known.get(name)?.hasStates === false) {
      await this.#shared.remove(this.#pathOf(name, false)).catch(() => {});
    }
    this.#known.set(name, { hasStates, touched: Date.now() });
    if (this.#toldOfFailure) this.#warn(`blocks are kept on disk again in ${this.#options.folder}`);
    this.#toldOfFailure = false;
  }

  /** Makes the folder if need be, and finds the model's files. */
  async #open(): Promise<void> {
    // Not readable for others, because keys and values reveal what was said in conversations.
    await fileSystem().mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const files = await this.#shared.scan();
    this.#known.clear();
    for (const { path, time } of files) {
      const own = this.#parse(path);
      if (!own || this.#known.get(own.name)?.hasStates) continue;
      this.#known.set(own.name, { hasStates: own.hasStates, touched: time });
    }
    this.#isOpen = true;
  }

  /** A file of the model was removed. */
  #forget(path: string): void {
    const own = this.#parse(path);
    if (own && this.#known.get(own.name)?.hasStates === own.hasStates) {
      this.#known.delete(own.name);
    }
  }

  /** The block of a path, and whether it has states; undefined for files of other models. */
  #parse(path: string): { name: string; hasStates: boolean } | undefined {
    if (dirname(path) !== this.#folder) return undefined;
    const hasStates = path.endsWith(WITH_STATES);
    return { name: basename(path, hasStates ? WITH_STATES : PLAIN), hasStates };
  }

  get #isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /** Writes nothing for a while, and reports the reason. */
  #pause(error: unknown): void {
    if (this.#isPaused) return;
    this.#isOpen = false;
    this.#pausedUntil = performance.now() + (this.#options.retryAfter ?? RETRY_AFTER);
    if (this.#toldOfFailure) return;
    this.#toldOfFailure = true;
    this.#warn(
      `nothing is kept on disk for now in ${this.#options.folder}, which is tried again: ${error}`,
    );
  }
}

// The file of one stored block: a mark, the SHA-256 of all that follows, the names of the model and
// of the block, two lengths, and the bytes. Files that are damaged, or belong to another block, are
// refused.

/**
 * The beginning of each file. Its digit is increased when the layout of files or of their content
 * changes.
 */
const MARK = new TextEncoder().encode("QUERNKV1");

const DIGEST_BYTES = 32;
/** Bytes of two names of 40 digits, and two lengths. */
const HEAD_BYTES = 2 * 40 + 2 * 4;

/** The error of a file that is damaged or belongs to another block. */
class BlockFileError extends Error {
  /** Name of the class. */
  override name = "BlockFileError";
}

/** The block that a file should hold. */
interface BlockOwner {
  /** The rootName() of the model's identity. */
  readonly root: string;
  readonly name: string;
}

/** The bytes of a file. */
function encodeBlockFile(owner: BlockOwner, { cached, states }: StoredBlock): Uint8Array {
  const from = MARK.length + DIGEST_BYTES;
  const bytes = new Uint8Array(from + HEAD_BYTES + cached.length + (states?.length ?? 0));
  bytes.set(MARK);
  bytes.set(headOf(owner, cached.length, states?.length ?? 0), from);
  bytes.set(cached, from + HEAD_BYTES);
  if (states) bytes.set(states, from + HEAD_BYTES + cached.length);
  bytes.set(digestOf(bytes.subarray(from)), MARK.length);
  return bytes;
}

/**
 * The block of a file. Its arrays are views of `bytes`.
 *
 * @throws {BlockFileError} if it is damaged, or belongs to another block
 */
function decodeBlockFile(owner: BlockOwner, bytes: Uint8Array): StoredBlock {
  const from = MARK.length + DIGEST_BYTES;
  if (bytes.length < from + HEAD_BYTES) throw new BlockFileError("it is cut off");
  const head = new DataView(bytes.buffer, bytes.byteOffset + from, HEAD_BYTES);
  const [cachedLength, statesLength] = [80, 84].map((at) => head.getUint32(at, true));
  const expected = [
    [0, MARK, "it is of another version"],
    [from, headOf(owner, cachedLength!, statesLength!), "it is another block's"],
    [MARK.length, digestOf(bytes.subarray(from)), "its checksum is wrong"],
  ] as const;
  for (const [at, wanted, fault] of expected) {
    if (!wanted.every((byte, i) => byte === bytes[at + i])) throw new BlockFileError(fault);
  }
  if (bytes.length !== from + HEAD_BYTES + cachedLength! + statesLength!) {
    throw new BlockFileError("its length is wrong");
  }
  const cached = bytes.subarray(from + HEAD_BYTES, from + HEAD_BYTES + cachedLength!);
  const states = bytes.subarray(from + HEAD_BYTES + cachedLength!);
  return { cached, ...(statesLength! > 0 && { states }) };
}

function headOf({ root, name }: BlockOwner, cached: number, states: number): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES);
  head.set(new TextEncoder().encode(root + name).subarray(0, 80));
  const view = new DataView(head.buffer);
  view.setUint32(80, cached, true);
  view.setUint32(84, states, true);
  return head;
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return sha256().update(bytes).digest();
}
