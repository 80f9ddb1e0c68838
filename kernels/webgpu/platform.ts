// How implementations of WebGPU differ, in one place. Everything else is written to the standard.
// Deno (wgpu, naga): rejects `enable subgroups;` although the built-ins work, and a mapAsync
// resolves only after a 10 ms sleep although the buffer is mapped when the call returns.
// Dawn (dawn.ts) follows the standard, on Deno by way of native code.

import { isDawn, loadDawn } from "./dawn.ts";

/** What an implementation of WebGPU does differently. */
export interface Platform {
  readonly name: "deno" | "dawn" | "standard";
  /** Whether WGSL must say `enable subgroups;` to use them. */
  readonly subgroupsDirective: boolean;
  /** Whether mapAsync blocks and then sleeps, so that its tail is worth overlapping. */
  readonly sleepyMap: boolean;
  /** Whether a dispatch of no workgroups is silent; Dawn writes a warning to the standard output. */
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

/** What a browser gives, or a program brings. */
const STANDARD: Platform = {
  name: "standard",
  subgroupsDirective: true,
  sleepyMap: false,
  emptyDispatches: true,
};

/**
 * The implementation of WebGPU that computes: the runtime's own, Deno's or a browser's, if it has one,
 * or Dawn. Errors: GpuError where Dawn cannot be loaded.
 */
export async function implementation(kind: "webgpu" | "dawn"): Promise<GPU | undefined> {
  return kind === "dawn" ? await loadDawn() : globalThis.navigator?.gpu;
}

/** What an adapter is. */
export interface AdapterFacts {
  /** Its name, and that of its driver, for people. */
  readonly description: string;
  /** Whether it is a driver that runs on the CPU. */
  readonly software: boolean;
}

/** Mesa's two, Google's, and Direct3D's WARP, which calls itself a basic render driver. */
const SOFTWARE = /llvmpipe|lavapipe|softpipe|swiftshader|basic render|\bwarp\b/i;

/** The adapter that a device is opened on: the fastest that there is. */
export async function requestAdapter(gpu: GPU | undefined): Promise<GPUAdapter | undefined> {
  const adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" }) ??
    await gpu?.requestAdapter();
  return adapter ?? undefined;
}

/** What that adapter is; undefined where there is none. */
export async function findAdapter(gpu: GPU | undefined): Promise<AdapterFacts | undefined> {
  const adapter = await requestAdapter(gpu);
  return adapter && adapterFacts(adapter.info);
}

/** What an adapter tells of itself. Not all say whether they are a fallback, but all have a name. */
export function adapterFacts(info: GPUAdapterInfo): AdapterFacts {
  const description = info.description || info.device || info.vendor || "unnamed adapter";
  return { description, software: info.isFallbackAdapter === true || SOFTWARE.test(description) };
}

/** The platform behind `gpu`: Deno's own only if it is the one Deno put on `navigator`. */
export function platformOf(gpu: GPU): Platform {
  if (isDawn(gpu)) return DAWN;
  const isDeno = "Deno" in globalThis && gpu === globalThis.navigator?.gpu;
  return isDeno ? DENO : STANDARD;
}
