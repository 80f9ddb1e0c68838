// How implementations of WebGPU differ, in one place. Everything else is written to the standard.
// Deno (wgpu, naga): rejects `enable subgroups;` although the built-ins work, and a mapAsync
// resolves only after a 10 ms sleep although the buffer is mapped when the call returns.

/** What an implementation of WebGPU does differently. */
export interface Platform {
  readonly name: "deno" | "standard";
  /** Whether WGSL must say `enable subgroups;` to use them. */
  readonly subgroupsDirective: boolean;
  /** Whether mapAsync blocks and then sleeps, so that its tail is worth overlapping. */
  readonly sleepyMap: boolean;
}

const DENO: Platform = { name: "deno", subgroupsDirective: false, sleepyMap: true };

const STANDARD: Platform = { name: "standard", subgroupsDirective: true, sleepyMap: false };

/** The platform behind `gpu`: Deno's own only if it is the one Deno put on `navigator`. */
export function platformOf(gpu: GPU): Platform {
  const isDeno = "Deno" in globalThis && gpu === globalThis.navigator?.gpu;
  return isDeno ? DENO : STANDARD;
}
