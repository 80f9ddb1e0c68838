// What leaves the KV caches of a server's models: the memory that all of them share for it, and the
// folder, as the settings say.

import { type BlockStoreOptions, defaultCacheMemory, MemoryStore } from "../../engine/mod.ts";
import type { Settings } from "../settings/settings.ts";

/** The blocks of a server's models that are on no device. */
export class BlockCache {
  readonly #settings: Pick<Settings, "cacheMemory" | "cacheDisk">;
  readonly #warn: (text: string) => void;
  #memory: Promise<MemoryStore> | undefined;
  #known: MemoryStore | undefined;

  /** @param warn hears of damaged files and full disks */
  constructor(
    settings: Pick<Settings, "cacheMemory" | "cacheDisk">,
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

  /** How a model keeps what leaves its KV cache. */
  async options(): Promise<BlockStoreOptions> {
    const { cacheDisk: disk } = this.#settings;
    const memory = await (this.#memory ??= this.#createMemory());
    return {
      ...(memory.limit > 0 && { memory }),
      ...(disk && disk.bytes > 0 && { disk }),
      warn: this.#warn,
    };
  }

  async #createMemory(): Promise<MemoryStore> {
    const limit = this.#settings.cacheMemory ?? await defaultCacheMemory();
    return this.#known = new MemoryStore(limit, Deno.systemMemoryInfo);
  }
}
