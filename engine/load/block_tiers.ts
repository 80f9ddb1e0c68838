// The stores for what leaves a model's KV cache. They are opened once it is known what the model is:
// its files' whole contents. Of small files, and of those whose digests are kept, that is known at
// once, of others a while after the load. Until then no block is shared or restored.

import { DigestFiles, DiskStore } from "../block_store/mod.ts";
import type { GgufFile } from "../gguf/mod.ts";
import type { BlockTiers, Scheduler } from "../run/mod.ts";
import type { LoadOptions } from "../types/mod.ts";
import { cacheIdentity, type FileDigests, type LoadFacts } from "./cache_identity.ts";
import {
  type BesideModel,
  digestOf,
  type KeptDigests,
  lookAt,
  type LookedAt,
} from "./content_digest.ts";

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
