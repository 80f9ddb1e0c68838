// Kernels that read or write keys and values, which are in memories of their own (CacheMemories).
// Their modules import the memories of a layer's keys and values.

import type { LayerCache } from "../../ops/kv_cache.ts";
import type { Kernels } from "../calls.ts";
import type { CpuCore } from "../core.ts";
import { cpu } from "../memory.ts";
import { PANEL, PANEL_PAGES, WORK } from "../instances.ts";
import { type Memory, ModuleBuilder } from "../wasm/mod.ts";

const [KEYS, VALUES] = ["keys", "values"];

/** The memories of a layer's cache; keys and values may share one. */
export interface CachedMemories {
  readonly work: Memory;
  readonly keys: Memory;
  readonly values: Memory;
  readonly panel: Memory;
}

/** Kernels that import the memories of a cache; without a cache, kernels over the working memory alone. */
export function cacheKernels(
  core: CpuCore,
  key: string,
  cache: LayerCache | undefined,
  add: (module: ModuleBuilder, memories: CachedMemories) => void,
): Kernels {
  const keys = cache ? cpu(cache.keys).home : core.work;
  const values = cache?.values ? cpu(cache.values).home : keys;
  return core.kernels(
    key,
    () => {
      const module = new ModuleBuilder();
      // The first memory's address is always in a register.
      const panel = module.importPrivateMemory(PANEL, PANEL_PAGES);
      const [work, ofKeys, ofValues] = [WORK, KEYS, VALUES].map((name) =>
        module.importMemory(name)
      );
      add(module, { work, keys: ofKeys, values: ofValues, panel });
      return module.bytes();
    },
    { [KEYS]: keys, [VALUES]: values },
  );
}
