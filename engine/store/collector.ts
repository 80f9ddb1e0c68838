// Takes blobs away that no manifest names any more, never one that somebody is about to name: that is
// what the lock is for. Of programs that do not know the lock, blobs are left alone while young.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { BlobStore } from "./blobs.ts";
import { entriesOf, readIfThere, removeIfThere, statIfThere } from "./file_system.ts";
import type { StoreLock } from "./lock.ts";
import { blobsNamedIn, canonicalDigest } from "./manifest.ts";
import type { ManifestFolder } from "./manifest_folder.ts";

/** Blobs younger than this may belong to another program that is not done. In milliseconds. */
const GRACE = 3_600_000;
/** Partial downloads are kept this much longer: somebody may go on with them. */
const PARTIAL_GRACE = 7 * 24 * 3_600_000;

/** Names of blobs, partial downloads and temporary files, ours and Ollama's. */
const GARBAGE = /^sha256-/;
const PARTIAL = /-partial(-\d+)?$/;
/** Only we name files so; whoever was writing one is dead when the lock is to be had. */
const TEMPORARY = /-temporary$/;

/** A manifest that names other manifests, which are blobs. */
const MANIFEST_LIST = /"application\/vnd\.ollama\.manifest\.list\./;
/** Greatest blob that is looked at as a manifest. In bytes. */
const MAX_MANIFEST = 2 ** 20;

/** What a prune did. */
export interface PruneResult {
  /** Files taken away. */
  removed: number;
  /** Their size together. */
  bytes: number;
  /** Why nothing was looked at, if so, in a sentence. */
  skipped?: string;
}

/** Removes blobs that are no longer used. */
export class BlobCollector {
  readonly #blobs: BlobStore;
  readonly #manifests: ManifestFolder;
  readonly #lock: StoreLock;
  /** Blobs that have lost a manifest and were not looked at since. */
  readonly #released = new Set<string>();

  constructor(blobs: BlobStore, manifests: ManifestFolder, lock: StoreLock) {
    this.#blobs = blobs;
    this.#manifests = manifests;
    this.#lock = lock;
  }

  /** Removes those of the blobs that no manifest names, now or as soon as nobody adds any. */
  async release(digests: readonly string[]): Promise<void> {
    for (const digest of digests) this.#released.add(digest);
    await this.flush();
  }

  /** Goes on with what could not be removed when it was released. */
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
      // The model is gone, which is what was asked for; prune() says what is wrong with its blobs.
    }
  }

  /**
   * Removes all that lies among the blobs and that no manifest names: what was noted under the lock at
   * once, what another program put there when it is older than the grace.
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
    const graceOf = (name: string) => {
      if (noted.has(canonicalDigest(name) ?? "") || TEMPORARY.test(name)) return 0;
      return graceMilliseconds ?? (PARTIAL.test(name) ? PARTIAL_GRACE : GRACE);
    };
    const garbage = (await this.#manifests.leftovers()).map((path) => ({ path, grace: 0 }));
    for (const { name } of await entriesOf(this.#blobs.folder)) {
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

  /** Digests of the blobs that some manifest names. */
  async #used(): Promise<Set<string>> {
    const used = new Set<string>();
    for (const bytes of await this.#manifests.contents()) {
      const digests = blobsNamedIn(bytes);
      // Where a manifest is a link to a blob, it is in use itself.
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
