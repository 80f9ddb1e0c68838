// Kernels of compiled modules, as each thread has them, and the memories that they import. A thread's worker
// imports this and not what makes modules (modules.ts): it reads a fourth of the files then.

import type { Kernel } from "./kernel.ts";
import { packFile } from "./pack_file.ts";
import { IMPORTS } from "./wasm/encoding.ts";

/** Names of the memories that modules import. */
export const WORK = "work";
/** The memory of weights. */
export const WEIGHTS = "weights";
/** Each thread's own memory, for intermediate values at constant addresses. */
export const PANEL = "panel";
/** Pages of that memory, of which attention needs most. */
export const PANEL_PAGES = 5;

/** A memory of a thread's own for modules of formats. */
export function panelMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: PANEL_PAGES, maximum: PANEL_PAGES });
}

/**
 * The kernels of a module by their names, in an order that is the same on all threads; with `pack` also
 * `pack_file`.
 */
export function instantiate(
  module: WebAssembly.Module,
  memories: Record<string, WebAssembly.Memory>,
  panel: WebAssembly.Memory,
): Map<string, Kernel> {
  const imports = { ...memories, [PANEL]: panel };
  const { exports } = new WebAssembly.Instance(module, { [IMPORTS]: imports });
  const names = Object.keys(exports).sort();
  const kernels = new Map(names.map((name) => [name, exports[name] as Kernel]));
  const pack = kernels.get("pack");
  if (pack) kernels.set("pack_file", packFile(pack, memories[WORK]!));
  return kernels;
}
