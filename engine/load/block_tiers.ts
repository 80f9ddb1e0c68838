// The stores for what leaves a model's KV cache. They are opened once it is known what the model is:
// its files' whole contents. Of small files, and of those whose digests are kept, that is known at
// once, of others a while after the load. Until then no block is shared or restored.

import { sha256 } from "../../host/mod.ts";
import type { DeviceProfile } from "../../kernels/mod.ts";
import { nextTask } from "../async.ts";
import { DigestFiles, DiskStore } from "../block_store/mod.ts";
import { type ByteSources, fill, type GgufFile, localFiles } from "../gguf/mod.ts";
import type { BlockTiers, Scheduler } from "../run/mod.ts";
import type { LoadOptions } from "../types/mod.ts";

/** Bytes of all files of a model that are read at once for their digests: some milliseconds. */
const AT_ONCE = 16 * 2 ** 20;

/** The files of a model, looked at before its weights are read. */
export class ModelContents {
  readonly #files: readonly LookedAt[];
  readonly #kept: KeptDigests | undefined;

  private constructor(files: readonly LookedAt[], kept: KeptDigests | undefined) {
    this.#files = files;
    this.#kept = kept;
  }

  /** Looks at the files; undefined if nothing is to be kept of the model. */
  static async look(
    gguf: GgufFile,
    { adapters = [], projector, blockStore }: LoadOptions,
  ): Promise<ModelContents | undefined> {
    if (!blockStore?.memory && !blockStore?.disk) return undefined;
    const { digests } = blockStore;
    const paths = [
      ...gguf.shards,
      ...adapters.map(({ path }) => path),
      ...(projector === undefined ? [] : [projector]),
    ];
    const files = await Promise.all(paths.map((path) => lookAt(path, gguf.files)));
    return new ModelContents(files, digests === undefined ? undefined : new DigestFiles(digests));
  }

  /**
   * The digests by path, if they are known or can be known at once; undefined if not, or a file has
   * changed.
   */
  async known(): Promise<FileDigests | undefined> {
    const isSmall = this.#files.reduce((sum, { size }) => sum + size, 0) <= AT_ONCE;
    return await this.#digests(async (file) => {
      if (isSmall) return await digestOf(file, this.#kept);
      return file.stamp === undefined ? undefined : await this.#kept?.get(file.stamp);
    });
  }

  /** The digests by path, read beside a model; undefined if a file has changed. */
  async read(model: BesideModel): Promise<FileDigests | undefined> {
    return await this.#digests((file) => digestOf(file, this.#kept, model));
  }

  async #digests(
    find: (file: LookedAt) => Promise<string | undefined>,
  ): Promise<FileDigests | undefined> {
    const digests = new Map<string, string>();
    for (const file of this.#files) {
      const digest = await find(file);
      if (digest === undefined) return undefined;
      digests.set(file.path, digest);
    }
    return digests;
  }
}

/** What the stores of a model's blocks depend on. */
export interface KeptModel {
  readonly gguf: GgufFile;
  /** Undefined: nothing is kept. */
  readonly contents: ModelContents | undefined;
  readonly options: LoadOptions;
  readonly facts: LoadFacts;
}

/**
 * Has a model keep what leaves its KV cache: from now on if it is known what the model is, else as
 * soon as its files have been read beside its work. A failure is a warning.
 */
export async function keepBlocks(scheduler: Scheduler, model: KeptModel): Promise<void> {
  const { gguf, contents, options } = model;
  if (!contents) return;
  const fail = (error: unknown) =>
    options.blockStore?.warn?.(
      `what leaves the KV cache of "${gguf.path}" is not kept: ${error}`,
    );
  const open = async (digests: FileDigests | undefined) => {
    if (digests) scheduler.openTiers(await openTiers(model, digests));
  };
  try {
    const digests = await contents.known();
    if (digests) await open(digests);
    else void contents.read(scheduler).then(open).catch(fail);
  } catch (error) {
    fail(error);
  }
}

async function openTiers(
  { gguf, options, facts }: KeptModel,
  digests: FileDigests,
): Promise<BlockTiers> {
  const { memory, disk, warn = () => {} } = options.blockStore ?? {};
  const model = cacheIdentity(gguf, digests, options, facts);
  return {
    model,
    ...(memory && { memory: memory.open(model) }),
    ...(disk && { disk: await DiskStore.open(model, disk, warn) }),
  };
}

// The identity of a loaded model for KV blocks that outlive it: everything on which the keys and
// values of a text depend. A file is identified by the digest of its whole content, whatever its name
// says.

/** Increased whenever keys and values are computed or laid out differently. */
const VERSION = 2;

/** SHA-256 of files in hex, by path. */
type FileDigests = ReadonlyMap<string, string>;

/** The facts on which the identity depends besides the load options. */
interface LoadFacts {
  /** The device with the embeddings and the head. */
  device: DeviceProfile;
  /** Window in tokens, which changes the rotary frequencies of some models. */
  context: number;
}

/** The identity of a model loaded this way. */
function cacheIdentity(
  gguf: GgufFile,
  digests: FileDigests,
  { adapters = [], projector, exact = false, cacheType, ...split }: LoadOptions,
  { device, context }: LoadFacts,
): string {
  return JSON.stringify({
    version: VERSION,
    files: gguf.shards.map((path) => digests.get(path)),
    adapters: adapters.map(({ path }) => digests.get(path)), // a block's name has their factors
    projector: projector === undefined ? null : digests.get(projector),
    exact,
    context,
    cacheType: cacheType ?? null,
    split: [split.gpuLayers ?? null, split.gpuExpertLayers ?? null],
    device: [device.platform.name, device.description],
  });
}

// The SHA-256 of the whole content of files, computed beside other work of the thread: a piece at a
// time, fast while the model is idle, slowly while it answers.

/** Bytes that are hashed at a time: about a millisecond. */
const PIECE = 2 ** 20;
/** Milliseconds between two pieces while the model answers. */
const PAUSE = 50;

/** The model beside whose work files are read. */
interface BesideModel {
  /** Requests that run or wait. */
  readonly load: number;
  readonly isClosed: boolean;
}

/** Digests that were computed before. */
interface KeptDigests {
  get(stamp: string): Promise<string | undefined>;
  put(stamp: string, digest: string): Promise<void>;
}

/** A file as it was when it was looked at. */
interface LookedAt {
  readonly path: string;
  /** What opens it. */
  readonly files: ByteSources;
  /** In bytes. */
  readonly size: number;
  /** What the system tells of it; undefined where that is nothing. */
  readonly stamp: string | undefined;
}

/** Looks at a file, so that its digest is that of what was there. */
export async function lookAt(path: string, files: ByteSources = localFiles): Promise<LookedAt> {
  using file = await files.open(path);
  return { path, files, size: file.size, stamp: file.stamp };
}

/**
 * The digest of a file's content in hex.
 *
 * @param model beside which it is read; without one it is read in one go
 * @returns undefined if the file has changed since it was looked at, or the model was closed
 */
export async function digestOf(
  { path, files, stamp }: LookedAt,
  kept?: KeptDigests,
  model?: BesideModel,
): Promise<string | undefined> {
  const known = stamp === undefined ? undefined : await kept?.get(stamp);
  if (known !== undefined) return known;
  using file = await files.open(path);
  if (file.stamp !== stamp) return undefined;
  const hash = sha256();
  const piece = new Uint8Array(PIECE);
  for (let at = 0; at < file.size; at += PIECE) {
    if (model) await (model.load > 0 ? pause() : nextTask());
    if (model?.isClosed) return undefined;
    hash.update(piece.subarray(0, fill(file, at, piece)));
  }
  // Content that changed meanwhile, or just before, has no digest that could be kept.
  const after = await lookAt(path, files);
  if (after.stamp !== stamp) return undefined;
  const digest = hash.digest("hex");
  if (stamp !== undefined && file.isSettled) await kept?.put(stamp, digest);
  return digest;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE));
}
