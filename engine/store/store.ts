// The models on this machine, in the layout of Ollama's store, so that both programs have the same
// ones: names in manifests/, content in blobs/. There are also single .gguf files, in the folder or
// at any path. Reads no weights: the facts in headers come from `inspect`.

import { basename, dirname, join, resolve } from "../../host/mod.ts";
import { SharedRuns } from "../async.ts";
import { ModelNotFoundError } from "../errors.ts";
import type { ModelInfo } from "../types/mod.ts";
import { BlobStore } from "./blobs.ts";
import { BoundedCache } from "./bounded_cache.ts";
import { BuiltinModels } from "./builtin_models.ts";
import { ControlVectors } from "./control_vectors.ts";
import { BlobCollector, type PruneResult } from "./collector.ts";
import { StoreError } from "./errors.ts";
import { readIfThere, statIfThere } from "./file_system.ts";
import { digestOfBytes, HeaderCache } from "./header_cache.ts";
import { digestOfImport, importFiles } from "./import_files.ts";
import { StoreLock } from "./lock.ts";
import {
  blobsNamedIn,
  blobsOf,
  canonicalDigest,
  encodeManifest,
  type Manifest,
  parseManifest,
} from "./manifest.ts";
import { type ManifestFile, ManifestFolder } from "./manifest_folder.ts";
import { type ModelBlobs, readModelBlobs, remoteInfo, sizeOfModel } from "./model_blobs.ts";
import { listModelFiles, modelAtPath, type ModelFile, statModel } from "./model_files.ts";
import { ModelName } from "./model_name.ts";
import { BlobNotes } from "./notes.ts";
import type { ModelSource, StoreEntry, StoreOptions } from "./types.ts";

/** Bytes of small blobs that are kept in memory: those of some hundred models. */
const MOST_CONTENTS = 16 * 2 ** 20;

/** The store: finds, lists, adds and removes models. */
export class ModelStore {
  /** The content of all models. */
  readonly blobs: BlobStore;
  /** The control vectors. */
  readonly controlVectors: ControlVectors;
  readonly #options: StoreOptions;
  readonly #lock: StoreLock;
  readonly #manifests: ManifestFolder;
  readonly #notes: BlobNotes;
  readonly #collector: BlobCollector;
  readonly #headers: HeaderCache;
  readonly #builtin: BuiltinModels;
  /** Concurrent requests for the same model share one lookup. */
  readonly #lookups = new SharedRuns<{ entry?: StoreEntry | undefined; isNamed: boolean }>();
  /** Contents of the small blobs, by digest of the manifest. */
  readonly #contents = new BoundedCache<ModelBlobs>(MOST_CONTENTS);
  readonly #digests = new WeakMap<Manifest, string>();
  /** The last reported error of each broken model, by path. */
  readonly #reported = new Map<string, string>();

  /** Makes a store without accessing any file. */
  constructor(options: StoreOptions) {
    const { folder, inspect } = options;
    this.#options = options;
    const lock = this.#lock = new StoreLock(join(folder, ".quern-lock"));
    const manifests = this.#manifests = new ManifestFolder(resolve(folder));
    const notes = this.#notes = new BlobNotes(join(folder, ".quern-lock-noted"), manifests);
    const blobs = this.blobs = new BlobStore(resolve(folder, "blobs"), lock, notes);
    this.controlVectors = new ControlVectors(resolve(folder, "control_vectors"));
    this.#collector = new BlobCollector({ blobs, manifests, lock, notes });
    this.#headers = new HeaderCache(inspect);
    this.#builtin = new BuiltinModels(folder, options.builtin ?? []);
  }

  /** All readable models, the latest first, followed by those of the program. */
  async list(): Promise<StoreEntry[]> {
    const entries: StoreEntry[] = [];
    const broken = new Set<string>();
    const add = async (path: string, read: () => Promise<StoreEntry | undefined>) => {
      try {
        const entry = await read();
        if (entry) entries.push(entry);
      } catch (error) {
        broken.add(path);
        this.#report(path, error);
      }
    };
    const manifests = await this.#manifests.list();
    for (const file of manifests) await add(file.path, () => this.#openManifest(file));
    const taken = new Set(manifests.map(({ name }) => name.key));
    for (const file of await listModelFiles(this.#options.folder)) {
      if (!taken.has(keyOf(file.name))) await add(file.path, () => this.#openFile(file));
    }
    for (const entry of await this.#options.remote?.list() ?? []) {
      if (!taken.has(keyOf(entry.name))) entries.push(entry);
    }
    entries.sort((a, b) => b.modified.getTime() - a.modified.getTime());
    const known = new Set(entries.map(({ name }) => keyOf(name)));
    for (const file of await this.#builtin.list()) {
      if (!known.has(keyOf(file.name))) await add(file.path, () => this.#openFile(file));
    }
    for (const path of this.#reported.keys()) if (!broken.has(path)) this.#reported.delete(path);
    return entries;
  }

  /**
   * The model of that name, in any case and with optional parts. If paths are allowed, also a path
   * of a .gguf file with a separator in it, or a path of a folder that cannot be a name: one that
   * begins with the root, a drive, `./` or `../`.
   *
   * @throws {ModelNotFoundError} if there is none
   * @throws {StoreError} if a blob is missing, or the folder has several models
   * @throws {GgufError} if its header cannot be read
   */
  async find(name: string): Promise<StoreEntry> {
    const { entry, isNamed } = await this.#lookups.run(name, () => this.#lookUp(name));
    if (entry && isNamed) return await this.#options.remote?.complete(entry) ?? entry;
    if (entry) return entry;
    const remote = await this.#options.remote?.find(name);
    if (!remote) throw new ModelNotFoundError(name);
    return remote;
  }

  /** The model on this machine, and whether a manifest names it. */
  async #lookUp(name: string): Promise<{ entry?: StoreEntry | undefined; isNamed: boolean }> {
    const manifest = await this.#findManifest(name);
    const entry = manifest && await this.#openManifest(manifest);
    if (entry) return { entry, isNamed: true };
    const file = await this.#findFile(name);
    return { entry: file && await this.#openFile(file), isNamed: false };
  }

  /** Fails if models on the server at this address may not be used. */
  async admitRemote(host: string): Promise<void> {
    await this.#options.remote?.admit(host);
  }

  /**
   * SHA-256 in hex. For models with a manifest it is that of the manifest. For single files it is
   * that of the manifest that a copy would have, or above 64 MiB and for split models that of the
   * first MiB, the size and the time of change.
   */
  async digest(entry: StoreEntry): Promise<string> {
    const { manifest, source, size, modified, stamp = "" } = entry;
    if (manifest) {
      return this.#digests.get(manifest) ?? await digestOfBytes(encodeManifest(manifest));
    }
    if (source.kind === "files") {
      const { path, projector } = source;
      const file = { path, ...(projector && { projector }), size, modified, stamp };
      return await this.#headers.digest(file, () => digestOfImport(entry));
    }
    return await digestOfBytes(new TextEncoder().encode(`${source.host}/${source.model}`));
  }

  /**
   * The manifest of a name; undefined if there is none.
   *
   * @throws {StoreError} if it cannot be read
   */
  async readManifest(name: ModelName): Promise<Manifest | undefined> {
    const bytes = await this.#manifests.read(name);
    return bytes && parseManifest(bytes);
  }

  /**
   * Sets the manifest of a name. Blobs of its former manifest are removed if no other model uses
   * them.
   *
   * @param manifest bytes are stored unchanged
   * @throws {StoreError} if a blob is missing, or the folder cannot be written
   */
  async writeManifest(name: ModelName, manifest: Manifest | Uint8Array): Promise<void> {
    const bytes = manifest instanceof Uint8Array ? manifest : encodeManifest(manifest);
    const needed = blobsOf(parseManifest(bytes));
    const released = await this.#lock.share(async () => {
      await this.#requireBlobs(name, needed);
      const old = await this.#manifests.read(name);
      const lost = old ? blobsNamedIn(old).filter((digest) => !needed.includes(digest)) : [];
      await this.#noteLost(lost);
      const noted = await this.#notes.length();
      await this.#manifests.write(name, bytes);
      await this.#notes.named(needed, noted);
      return lost;
    });
    await this.#release(released);
  }

  /**
   * Gives a model another name, too, which replaces an existing model. Single files are copied.
   *
   * @throws {ModelNotFoundError} if there is no source
   * @throws {StoreError} if the destination is not a name, or the source is incomplete
   */
  async copy(source: string, destination: string): Promise<void> {
    const target = ModelName.parse(destination);
    await this.protect(async () => {
      const file = await this.#findManifest(source);
      const bytes = file && await readIfThere(file.path);
      const manifest = bytes ?? await importFiles(this.blobs, await this.find(source));
      await this.writeManifest(target, manifest);
    });
  }

  /**
   * Removes a model, and its blobs if no other model uses them. Models of the program are hidden
   * until {@linkcode restore}.
   *
   * @throws {ModelNotFoundError} if there is none
   * @throws {StoreError} if it is a single file, which the store does not own
   */
  async remove(name: string): Promise<void> {
    const manifest = await this.#findManifest(name);
    if (!manifest) {
      const file = await this.#findFile(name);
      if (!file) throw new ModelNotFoundError(name);
      const shown = await this.#builtin.list();
      if (shown.includes(file)) return await this.#builtin.hide(file);
      throw new StoreError(
        `Cannot remove "${name}": it is the file "${file.path}": remove the file itself`,
      );
    }
    const released = await this.#lock.share(async () => {
      const bytes = await readIfThere(manifest.path);
      const lost = bytes ? blobsNamedIn(bytes) : [];
      await this.#noteLost(lost);
      await this.#manifests.remove(manifest.name);
      return lost;
    });
    await this.#release(released);
  }

  /**
   * Shows a removed model of the program again. Does nothing and gives false if the program has
   * none of that name.
   *
   * @throws {StoreError} if the folder cannot be written
   */
  async restore(name: string): Promise<boolean> {
    const parsed = ModelName.tryParse(name);
    return parsed !== undefined && await this.#builtin.show(parsed);
  }

  /** The path of the file with a digest: a blob, or a model of the program; undefined if there is none. */
  async fileOf(digest: string): Promise<string | undefined> {
    const isBlob = await this.blobs.sizeOf(digest) !== undefined;
    return isBlob ? this.blobs.pathOf(digest) : await this.#builtin.pathOf(digest);
  }

  /** The digest of the file at a path of an entry; undefined for files that are neither blobs nor the program's. */
  async digestOfFile(path: string): Promise<string | undefined> {
    const digest = dirname(path) === this.blobs.folder && canonicalDigest(basename(path));
    return digest || await this.#builtin.digestOf(path);
  }

  /**
   * Removes blobs, partial downloads and temporary files that no model uses. Never fails: problems
   * are part of the result.
   *
   * @param options graceMilliseconds: files that came less than this time ago are kept; default 7
   *   days
   */
  prune({ graceMilliseconds }: { graceMilliseconds?: number } = {}): Promise<PruneResult> {
    return this.#collector.prune(graceMilliseconds);
  }

  /**
   * Runs work during which no process removes the work's blobs, whether or not manifests name them
   * yet.
   */
  async protect<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#lock.share(work);
    } finally {
      await this.#collector.flush();
    }
  }

  async #noteLost(digests: readonly string[]): Promise<void> {
    await this.#notes.lost(digests.map((digest) => [digest, this.blobs.pathOf(digest)]));
  }

  async #release(digests: string[]): Promise<void> {
    if (!this.#options.keepUnused) await this.#collector.release(digests);
  }

  async #findManifest(name: string): Promise<ManifestFile | undefined> {
    const parsed = ModelName.tryParse(name);
    return parsed && await this.#manifests.find(parsed);
  }

  async #findFile(name: string): Promise<ModelFile | undefined> {
    const atPath = this.#options.allowPaths ? await modelAtPath(name) : undefined;
    if (atPath) return atPath;
    const key = keyOf(name);
    const files = [
      ...await listModelFiles(this.#options.folder),
      ...await this.#builtin.list(),
    ];
    return files.find((file) => keyOf(file.name) === key);
  }

  /** The entry of a manifest; undefined if it was removed. */
  async #openManifest(file: ManifestFile): Promise<StoreEntry | undefined> {
    const bytes = await readIfThere(file.path);
    const facts = await statIfThere(file.path);
    if (!bytes || !facts) return undefined;
    const digest = await digestOfBytes(bytes);
    try {
      const modified = facts.mtime ?? new Date(0);
      return await this.#describe(file.name, parseManifest(bytes), digest, modified);
    } catch (error) {
      const now = await readIfThere(file.path);
      // A missing blob may have been removed together with the manifest while it was read.
      if (!now || await digestOfBytes(now) !== digest) return this.#openManifest(file);
      throw error;
    }
  }

  async #describe(
    name: ModelName,
    parsed: Manifest,
    digest: string,
    modified: Date,
  ): Promise<StoreEntry> {
    await this.#requireBlobs(name, blobsOf(parsed));
    const { manifest, config, source, defaults } = await this.#readBlobs(parsed, digest);
    this.#digests.set(manifest, digest);
    const files = source.kind === "remote" ? undefined : await this.#readInfo(source);
    return {
      name: name.toString(),
      size: sizeOfModel(manifest),
      modified,
      info: files?.info ?? remoteInfo(config),
      source,
      ...(files && { stamp: files.stamp }),
      defaults,
      manifest,
      config,
    };
  }

  async #readBlobs(manifest: Manifest, digest: string): Promise<ModelBlobs> {
    const known = this.#contents.get(digest);
    if (known) return known;
    const contents = await readModelBlobs(this.blobs, manifest);
    this.#contents.set(digest, contents, contents.bytes);
    return contents;
  }

  async #requireBlobs(name: ModelName, digests: string[]): Promise<void> {
    for (const digest of digests) {
      if (await this.blobs.sizeOf(digest) !== undefined) continue;
      throw new StoreError(
        `Cannot use model "${name}": its blob ${digest} is not in the store: ` +
          `get it with \`quern pull ${name}\`, or create the model again`,
      );
    }
  }

  async #openFile({ name, path, projector }: ModelFile): Promise<StoreEntry> {
    const files = { path, ...(projector && { projector }) };
    const facts = await statModel(files);
    const info = await this.#headers.info({ ...files, ...facts });
    const source = { kind: "files", ...files, adapters: [] } as const;
    const defaults = { parameters: {}, messages: [], license: [] };
    return { name, ...facts, info, source, defaults };
  }

  async #readInfo(
    source: Extract<ModelSource, { kind: "files" }>,
  ): Promise<{ info: ModelInfo; stamp: string }> {
    const { path, projector } = source;
    const files = { path, ...(projector && { projector }) };
    const { stamp } = await statModel(source);
    // An adapter has no part in the header.
    return { info: await this.#headers.info({ ...files, ...await statModel(files) }), stamp };
  }

  #report(path: string, error: unknown): void {
    if (this.#reported.get(path) === String(error)) return;
    this.#reported.set(path, String(error));
    this.#options.onBroken?.(path, error);
  }
}

/** A key that is the same for all spellings of a name, and for file names that are not names. */
function keyOf(name: string): string {
  const parsed = ModelName.tryParse(name);
  if (parsed) return parsed.key;
  return (/:[^/]*$/.test(name) ? name : `${name}:latest`).toLowerCase();
}
