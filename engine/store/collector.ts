// The garbage collector of blobs. It removes blobs that no manifest names, and none that a process
// is about to name, which the lock ensures. Young blobs are kept, because programs that do not know
// the lock may have added them. A manifest that is out of sight may name any blob: while there may
// be one, nothing is removed.

import { basename, type FileInfo, join, sha256 } from "../../host/mod.ts";
import type { BlobStore } from "./blobs.ts";
import {
  arrivalOf,
  entriesOf,
  inodeOf,
  readIfThere,
  removeIfThere,
  statIfThere,
} from "./file_system.ts";
import type { StoreLock } from "./lock.ts";
import { blobsNamedIn, canonicalDigest } from "./manifest.ts";
import type { ManifestFolder } from "./manifest_folder.ts";
import type { BlobNotes } from "./notes.ts";

/**
 * Milliseconds for which files are kept: another program may download for days before it writes the
 * manifest, and partial downloads may be resumed.
 */
const GRACE = 7 * 24 * 3_600_000;

/** Names of blobs, partial downloads and temporary files, ours and Ollama's. */
const GARBAGE = /^sha256-/;
const PARTIAL = /-partial(-\d+)?$/;
/** Names of our temporary files. While we hold the lock alone, nobody is writing one. */
const TEMPORARY = /-temporary$/;

/** A manifest that names other manifests, which are blobs. */
const MANIFEST_LIST = /"application\/vnd\.ollama\.manifest\.list\./;
/** Largest blob that may be a manifest, in bytes. */
const MAX_MANIFEST = 2 ** 20;

export interface PruneResult {
  /** Number of removed files. */
  removed: number;
  /** Bytes of the removed files. */
  bytes: number;
  /** The reason, as a sentence, if not all that is unused could be removed. */
  skipped?: string;
  /** Names and bytes of the files that would have been removed without that reason. */
  kept?: { names: string[]; bytes: number };
}

/** A file that no manifest names. */
interface Unused {
  readonly path: string;
  readonly size: number;
  /** Whether this program left it behind, so that no other needs it. */
  readonly isAbandoned: boolean;
}

/** What the manifests name. */
interface References {
  readonly used: ReadonlySet<string>;
  /** Why there may be further references, as clauses. */
  readonly unknown: readonly string[];
  readonly hasManifests: boolean;
}

/** Removes blobs that are no longer used. */
export class BlobCollector {
  readonly #blobs: BlobStore;
  readonly #manifests: ManifestFolder;
  readonly #lock: StoreLock;
  readonly #notes: BlobNotes;
  /**
   * Blobs that lost a manifest and have not been examined since, with the identity of the folder of
   * manifests at that time.
   */
  readonly #released = new Map<string, number>();

  constructor(
    { blobs, manifests, lock, notes }: {
      blobs: BlobStore;
      manifests: ManifestFolder;
      lock: StoreLock;
      notes: BlobNotes;
    },
  ) {
    this.#blobs = blobs;
    this.#manifests = manifests;
    this.#lock = lock;
    this.#notes = notes;
  }

  /** Removes those of the blobs that no manifest names, now or as soon as nobody adds blobs. */
  async release(digests: readonly string[]): Promise<void> {
    const folder = await this.#manifests.identity();
    for (const digest of digests) this.#released.set(digest, folder);
    await this.flush();
  }

  /** Removes released blobs that could not be removed before. */
  async flush(): Promise<void> {
    if (this.#released.size === 0) return;
    try {
      await this.#lock.tryAlone(async () => {
        const { used, unknown } = await this.#references();
        if (unknown.length > 0) return;
        const now = await this.#manifests.identity();
        for (const [digest, folder] of this.#released) {
          if (folder === now && !used.has(digest)) await removeIfThere(this.#blobs.pathOf(digest));
          this.#released.delete(digest);
        }
      });
    } catch {
      // The model was removed, as was asked for. prune() will report the problem with its blobs.
    }
  }

  /**
   * Removes all blobs that no manifest names: those that this program left behind at once, others
   * when they are older than the grace period.
   */
  async prune(graceMilliseconds = GRACE): Promise<PruneResult> {
    const begin = "The store was not cleaned up";
    try {
      return await this.#lock.tryAlone(() => this.#sweep(graceMilliseconds)) ??
        {
          removed: 0,
          bytes: 0,
          skipped: `${begin}: another download or another process is writing to it`,
        };
    } catch (error) {
      const state = error instanceof Error ? error.message : error;
      return { removed: 0, bytes: 0, skipped: `${begin}: ${state}` };
    }
  }

  async #sweep(grace: number): Promise<PruneResult> {
    const { used, unknown, hasManifests } = await this.#references();
    const unused = await this.#unused(used, grace);
    if (unknown.length > 0) {
      const others = unknown.length > 1 ? `, and ${unknown.length - 1} more like this` : "";
      return hindered(
        `manifests that cannot be read may need any blob: ${unknown[0]}${others}`,
        unused,
      );
    }
    // Without a manifest, perhaps all of them are out of sight.
    const garbage = hasManifests ? unused : unused.filter(({ isAbandoned }) => isAbandoned);
    const result = { removed: 0, bytes: 0 };
    for (const { path, size } of garbage) {
      if (!await removeIfThere(path)) continue;
      result.removed++;
      result.bytes += size;
    }
    await this.#notes.forget();
    const kept = unused.filter((file) => !garbage.includes(file));
    return kept.length === 0 ? result : {
      ...hindered(
        `"${this.#manifests.root}" has no manifests, though there are blobs: if it is as it should ` +
          `be, remove the files of "${this.#blobs.folder}"`,
        kept,
      ),
      ...result,
    };
  }

  /** The files that no manifest names and that are old enough to go. */
  async #unused(used: ReadonlySet<string>, grace: number): Promise<Unused[]> {
    const abandoned = await this.#notes.abandoned();
    const names = new Set((await entriesOf(this.#blobs.folder)).map(({ name }) => name));
    const unused: Unused[] = [];
    const add = async (path: string, isAbandoned: (facts: FileInfo) => boolean) => {
      const facts = await statIfThere(path);
      if (!facts?.isFile) return;
      const isYoung = grace > 0 && arrivalOf(facts) > Date.now() - grace;
      if (isAbandoned(facts)) unused.push({ path, size: facts.size, isAbandoned: true });
      else if (!isYoung) unused.push({ path, size: facts.size, isAbandoned: false });
    };
    for (const path of await this.#manifests.leftovers()) await add(path, () => true);
    for (const name of names) {
      const digest = canonicalDigest(name) ?? "";
      if (!GARBAGE.test(name) || used.has(digest)) continue;
      // What a download left that was killed when its file had just become the blob.
      const isLeftover = PARTIAL.test(name) && names.has(name.replace(PARTIAL, ""));
      await add(
        join(this.#blobs.folder, name),
        (facts) =>
          isLeftover || TEMPORARY.test(name) ||
          abandoned.get(digest) === inodeOf(facts),
      );
    }
    return unused;
  }

  /** The blobs that manifests name. */
  async #references(): Promise<References> {
    const used = new Set<string>();
    const { files, unknown } = await this.#manifests.contents();
    for (const bytes of files) {
      const digests = blobsNamedIn(bytes);
      // A manifest may be a link to a blob, which is then in use, too.
      used.add(`sha256:${sha256().update(bytes).digest("hex")}`);
      for (const digest of digests) used.add(digest);
      if (!MANIFEST_LIST.test(new TextDecoder().decode(bytes))) continue;
      for (const digest of digests) {
        const size = await this.#blobs.sizeOf(digest);
        if (size === undefined) unknown.push(`blob ${digest}, a manifest, is not in the store`);
        if (size === undefined || size > MAX_MANIFEST) continue;
        const child = await readIfThere(this.#blobs.pathOf(digest));
        for (const other of child ? blobsNamedIn(child) : []) used.add(other);
      }
    }
    return { used, unknown, hasManifests: files.length > 0 };
  }
}

/** The result where files have to be kept. */
function hindered(reason: string, unused: readonly Unused[]): PruneResult {
  return {
    removed: 0,
    bytes: 0,
    skipped: `The store was not cleaned up: ${reason}`,
    kept: {
      names: unused.map(({ path }) => basename(path)),
      bytes: unused.reduce((sum, { size }) => sum + size, 0),
    },
  };
}
