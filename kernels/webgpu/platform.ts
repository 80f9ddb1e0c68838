// The differences between implementations of WebGPU; all other code follows the standard. Deno
// (wgpu, naga) rejects `enable subgroups;` although the built-ins work, and its mapAsync resolves
// after a sleep of 10 ms although the buffer is mapped when the call returns. Dawn (dawn.ts)
// follows the standard; in Deno it is native code.

import { denoVersion } from "../../host/mod.ts";
import { isDawn, loadDawn } from "./dawn.ts";

/** The differences of one implementation. */
export interface Platform {
  readonly name: "deno" | "dawn" | "standard";
  /** Whether WGSL must say `enable subgroups;` to use them. */
  readonly subgroupsDirective: boolean;
  /** Whether mapAsync blocks and then sleeps, so that other work should overlap with the sleep. */
  readonly sleepyMap: boolean;
  /**
   * Whether a dispatch without workgroups is silent. Dawn writes a warning to the standard output.
   */
  readonly emptyDispatches: boolean;
}

const DENO: Platform = {
  name: "deno",
  subgroupsDirective: false,
  sleepyMap: true,
  emptyDispatches: true,
};

const DAWN: Platform = {
  name: "dawn",
  subgroupsDirective: true,
  sleepyMap: false,
  emptyDispatches: false,
};

/** The implementation of a browser, or one that the program brings. */
const STANDARD: Platform = {
  name: "standard",
  subgroupsDirective: true,
  sleepyMap: false,
  emptyDispatches: true,
};

/**
 * The implementation of WebGPU: the runtime's own (Deno's or a browser's) if it has one, or Dawn.
 * Errors: GpuError if Dawn cannot be loaded.
 */
export async function implementation(kind: "webgpu" | "dawn"): Promise<GPU | undefined> {
  return kind === "dawn" ? await loadDawn() : globalThis.navigator?.gpu;
}

/** The platform of `gpu`. It is Deno's only if it is the object that Deno put on `navigator`. */
export function platformOf(gpu: GPU): Platform {
  if (isDawn(gpu)) return DAWN;
  const isDeno = denoVersion() !== undefined && gpu === globalThis.navigator?.gpu;
  return isDeno ? DENO : STANDARD;
}
