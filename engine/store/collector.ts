// The garbage collector of blobs. It removes blobs that no manifest names, and none that a process
// is about to name, which the lock ensures. Young blobs are kept, because programs that do not know
// the lock may have added them.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { BlobStore } from "./blobs.ts";
import { entriesOf, readIfThere, removeIfThere, statIfThere } from "./file_system.ts";
import type { StoreLock } from "./lock.ts";
import { blobsNamedIn, canonicalDigest } from "./manifest.ts";
import type { ManifestFolder } from "./manifest_folder.ts";

/**
 * Milliseconds for which blobs are kept, because another program may still be adding their
 * manifest.
 */
const GRACE = 3_600_000;
/** Milliseconds for which partial downloads are kept, because they may be resumed. */
const PARTIAL_GRACE = 7 * 24 * 3_600_000;

/** Names of blobs, partial downloads and temporary files, ours and Ollama's. */
const GARBAGE = /^sha256-/;
const PARTIAL = /-partial(-\d+)?$/;
/** Names of our temporary files. While we hold the lock alone, nobody is writing one. */
const TEMPORARY = /-temporary$/;

/** A manifest that names other manifests, which are blobs. */
const MANIFEST_LIST = /"application\/vnd\.ollama\.manifest\.list\./;
/** Largest blob that may be a manifest, in bytes. */
const MAX_MANIFEST = 2 ** 20;

/** The result of a prune. */
export interface PruneResult {
  /** Number of removed files. */
  removed: number;
  /** Bytes of the removed files. */
  bytes: number;
  /** The reason, as a sentence, if nothing was examined. */
  skipped?: string;
}

/** Removes blobs that are no longer used. */
export class BlobCollector {
  readonly #blobs: BlobStore;
  readonly #manifests: ManifestFolder;
  readonly #lock: StoreLock;
  /** Blobs that lost a manifest and have not been examined since. */
  readonly #released = new Set<string>();

  constructor(blobs: BlobStore, manifests: ManifestFolder, lock: StoreLock) {
    this.#blobs = blobs;
    this.#manifests = manifests;
    this.#lock = lock;
  }

  /** Removes those of the blobs that no manifest names, now or as soon as nobody adds blobs. */
  async release(digests: readonly string[]): Promise<void> {
    for (const digest of digests) this.#released.add(digest);
    await this.flush();
  }

  /** Removes released blobs that could not be removed before. */
  async flush(): Promise<void> {
    if (this.#released.size === 0) return;
    try {
      await this.#lock.tryAlone(async () => {
        const used = await this.#used();
        for (const digest of this.#released) {
          if (!used.has(digest)) await removeIfThere(this.#blobs.pathOf(digest));
          this.#released.delete(digest);
        }
      });
    } catch {
      // The model was removed, as was asked for. prune() will report the problem with its blobs.
    }
  }

  /**
   * Removes all blobs that no manifest names: those noted under the lock at once, those of other
   * programs when they are older than the grace period.
   */
  async prune(graceMilliseconds?: number): Promise<PruneResult> {
    try {
      return await this.#lock.tryAlone(() => this.#sweep(graceMilliseconds)) ??
        skip("The store was not cleaned up: another download or another process is writing to it");
    } catch (error) {
      return skip(
        `The store was not cleaned up: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  async #sweep(graceMilliseconds: number | undefined): Promise<PruneResult> {
    const used = await this.#used();
    const noted = await this.#lock.noted();
    const names = new Set((await entriesOf(this.#blobs.folder)).map(({ name }) => name));
    const graceOf = (name: string) => {
      if (noted.has(canonicalDigest(name) ?? "") || TEMPORARY.test(name)) return 0;
      // What a download left that was killed when its file had just become the blob.
      if (PARTIAL.test(name) && names.has(name.replace(PARTIAL, ""))) return 0;
      return graceMilliseconds ?? (PARTIAL.test(name) ? PARTIAL_GRACE : GRACE);
    };
    const garbage = (await this.#manifests.leftovers()).map((path) => ({ path, grace: 0 }));
    for (const name of names) {
      if (!GARBAGE.test(name) || used.has(canonicalDigest(name) ?? "")) continue;
      garbage.push({ path: join(this.#blobs.folder, name), grace: graceOf(name) });
    }
    const result = { removed: 0, bytes: 0 };
    for (const { path, grace } of garbage) {
      const facts = await statIfThere(path);
      const isYoung = grace > 0 && (facts?.mtime?.getTime() ?? 0) > Date.now() - grace;
      if (!facts?.isFile || isYoung) continue;
      if (!await removeIfThere(path)) continue;
      result.removed++;
      result.bytes += facts.size;
    }
    await this.#lock.forgetNoted();
    return result;
  }

  /** Digests of the blobs that manifests name. */
  async #used(): Promise<Set<string>> {
    const used = new Set<string>();
    for (const bytes of await this.#manifests.contents()) {
      const digests = blobsNamedIn(bytes);
      // A manifest may be a link to a blob, which is then in use, too.
      used.add(`sha256:${createHash("sha256").update(bytes).digest("hex")}`);
      for (const digest of digests) used.add(digest);
      if (!MANIFEST_LIST.test(new TextDecoder().decode(bytes))) continue;
      for (const digest of digests) {
        if ((await this.#blobs.sizeOf(digest) ?? Infinity) > MAX_MANIFEST) continue;
        const child = await readIfThere(this.#blobs.pathOf(digest));
        for (const other of child ? blobsNamedIn(child) : []) used.add(other);
      }
    }
    return used;
  }
}

function skip(skipped: string): PruneResult {
  return { removed: 0, bytes: 0, skipped };
}
