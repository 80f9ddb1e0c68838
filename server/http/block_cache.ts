// What leaves the KV caches of a server's models: the memory that all of them share for it, and the
// folder, as the settings say.

import { join } from "node:path";
import {
  type BlockStoreOptions,
  defaultCacheMemory,
  measureBlocks,
  MemoryStore,
} from "../../engine/mod.ts";
import type { Settings } from "../settings/settings.ts";

/** Least milliseconds between two measurements of the folder: it may have many files. */
const MEASURING_INTERVAL = 5000;

/** The blocks of a server's models that are on no device. */
export class BlockCache {
  readonly #settings: Pick<Settings, "cacheMemory" | "cacheDisk" | "cache">;
  readonly #warn: (text: string) => void;
  #memory: Promise<MemoryStore> | undefined;
  #known: MemoryStore | undefined;
  #diskBytes = 0;
  #firstMeasurement: Promise<void> | undefined;
  #measured = -Infinity;

  /** @param warn hears of damaged files and full disks */
  constructor(
    settings: Pick<Settings, "cacheMemory" | "cacheDisk" | "cache">,
    warn: (text: string) => void,
  ) {
    this.#settings = settings;
    this.#warn = warn;
  }

  /** Bytes in memory, and most of them; zeros before the first model is loaded. */
  get memory(): { bytes: number; limit: number } {
    const { bytes, limit } = this.#known ?? { bytes: 0, limit: 0 };
    return { bytes, limit };
  }

  /** Bytes of the files on disk when they were last measured, and most of them; absent without a folder. */
  get onDisk(): { bytes: number; limit: number } | undefined {
    const { cacheDisk: disk } = this.#settings;
    return disk && { bytes: this.#diskBytes, limit: disk.bytes };
  }

  /**
   * Measures the files on disk, at most every few seconds. Only the first measurement can be waited for,
   * so that nobody hears of an empty folder that is none; a large one takes a while.
   */
  async measureDisk(): Promise<void> {
    const { cacheDisk: disk } = this.#settings;
    if (disk && performance.now() >= this.#measured + MEASURING_INTERVAL) {
      this.#measured = performance.now();
      const measuring = measureBlocks(disk.folder)
        .then((bytes) => void (this.#diskBytes = bytes), () => {});
      this.#firstMeasurement ??= measuring;
    }
    await this.#firstMeasurement;
  }

  /** How a model keeps what leaves its KV cache. */
  async options(): Promise<BlockStoreOptions> {
    const { cacheDisk: disk, cache } = this.#settings;
    const memory = await (this.#memory ??= this.#createMemory());
    return {
      ...(memory.limit > 0 && { memory }),
      ...(disk && disk.bytes > 0 && { disk }),
      ...(cache !== undefined && { digests: join(cache, "digests") }),
      warn: this.#warn,
    };
  }

  async #createMemory(): Promise<MemoryStore> {
    const limit = this.#settings.cacheMemory ?? await defaultCacheMemory();
    return this.#known = new MemoryStore(limit, Deno.systemMemoryInfo);
  }
}
