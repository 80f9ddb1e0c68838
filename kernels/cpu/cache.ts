// Kernels that read or write keys and values, which are in memories of their own (CacheMemories).
// Their modules import the memories of a layer's keys and values.

import type { LayerCache } from "../ops/kv_cache.ts";
import type { CpuCore, Kernels } from "./core.ts";
import { cpu } from "./memory.ts";
import { PANEL, WORK } from "./modules.ts";
import { PANEL_PAGES } from "./product.ts";
import { type Memory, ModuleBuilder } from "./wasm/mod.ts";

const [KEYS, VALUES] = ["keys", "values"];

/** Memories that kernels over a cache work in; those of keys and of values may be one. */
export interface CachedMemories {
  readonly work: Memory;
  readonly keys: Memory;
  readonly values: Memory;
  readonly panel: Memory;
}

/** Kernels over the memories that a cache lies in; without one, over the working memory. */
export function cacheKernels(
  core: CpuCore,
  key: string,
  cache: LayerCache | undefined,
  add: (module: ModuleBuilder, memories: CachedMemories) => void,
): Kernels {
  const keys = cache ? cpu(cache.keys).home : core.work;
  const values = cache?.values ? cpu(cache.values).home : keys;
  return core.kernels(
    `${key} ${keys.number} ${values.number}`,
    () => {
      const module = new ModuleBuilder();
      const [work, ofKeys, ofValues] = [WORK, KEYS, VALUES].map((name) =>
        module.importMemory(name)
      );
      const panel = module.importPrivateMemory(PANEL, PANEL_PAGES);
      add(module, { work, keys: ofKeys, values: ofValues, panel });
      return module.bytes();
    },
    { [KEYS]: keys.memory, [VALUES]: values.memory },
  );
}
