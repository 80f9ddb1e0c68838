// The differences between implementations of WebGPU; all other code follows the standard. Deno
// (wgpu, naga) rejects `enable subgroups;` although the built-ins work, and its mapAsync resolves
// after a sleep of 10 ms although the buffer is mapped when the call returns. Dawn (dawn.ts)
// follows the standard; in Deno it is native code.

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

/** The facts of an adapter. */
export interface AdapterFacts {
  /** Its name and that of its driver, for people. */
  readonly description: string;
  /** Whether it is a driver that runs on the CPU. */
  readonly software: boolean;
  /**
   * Whether it has no instruction for a product of four int8. WGSL has such a product everywhere,
   * but where it is emulated, f32 takes fewer instructions and half the registers.
   */
  readonly emulatesPackedDot: boolean;
}

/**
 * Software drivers: Mesa's two, Google's, and Direct3D's WARP, which calls itself a basic render
 * driver.
 */
const SOFTWARE = /llvmpipe|lavapipe|softpipe|swiftshader|basic render|\bwarp\b/i;

/**
 * GPUs that lack that instruction, by the names that drivers give them: WebGPU does not tell. AMD's
 * before RDNA 2, except Vega 20, Navi 12 and Navi 14; Intel's before Xe; NVIDIA's before Pascal. The
 * capitals are Mesa's names of AMD's chips.
 */
const WITHOUT_PACKED_DOT = [
  /\bApple\b/,
  /\bRADV (TAHITI|PITCAIRN|VERDE|OLAND|HAINAN|BONAIRE|KABINI|KAVERI|HAWAII|TONGA|ICELAND)\b/,
  /\bRADV (CARRIZO|FIJI|STONEY|POLARIS\d+|VEGAM|VEGA10|VEGA12|RAVEN2?|RENOIR|NAVI10)\b/,
  /\bRadeon.* (RX 5[67]00|RX [45][5-9]0\b|RX Vega|Vega \d+|R[579] )/,
  /\bIntel\b.*( HD Graphics|UHD Graphics 6\d\d|Iris(\(R\))? (Plus|Pro) )/,
  /\bGeForce GTX? [4-9]\d\d(M|\b)/,
];

/**
 * The same where an adapter has no name but these, as in browsers and on Dawn. "rdna-1" is of Navi 10
 * and 14 alike, of which only the latter has it.
 */
const ARCHITECTURES_WITHOUT_PACKED_DOT: Readonly<Record<string, RegExp>> = {
  apple: /^/,
  amd: /^(gcn-\d|rdna-1)$/,
  intel: /^gen-([1-9]|1[01])$/,
  nvidia: /^(fermi|kepler|maxwell)$/,
  arm: /^midgard$/,
};

/** Whether WebGPU is Metal, whose language has no such product: compilers emulate it for all GPUs. */
function isOnMetal({ architecture = "" }: GPUAdapterInfo, system: string): boolean {
  return system === "darwin" || /^(metal|common)-\d/.test(architecture);
}

/** The adapter on which a device is opened: the fastest one. */
export async function requestAdapter(gpu: GPU | undefined): Promise<GPUAdapter | undefined> {
  const adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" }) ??
    await gpu?.requestAdapter();
  return adapter ?? undefined;
}

/** The facts of that adapter; undefined if there is none. */
export async function findAdapter(
  gpu: object | undefined = globalThis.navigator?.gpu,
): Promise<AdapterFacts | undefined> {
  const adapter = await requestAdapter(gpu as GPU | undefined);
  return adapter && adapterFacts(adapter.info);
}

/**
 * The facts that an adapter gives. Not all say whether they are a software fallback, but all have a
 * name.
 */
export function adapterFacts(
  info: GPUAdapterInfo,
  system: string = globalThis.Deno?.build.os ?? "",
): AdapterFacts {
  const description = info.description || info.device || info.vendor || "unnamed adapter";
  const software = info.isFallbackAdapter === true || SOFTWARE.test(description);
  const architectures = ARCHITECTURES_WITHOUT_PACKED_DOT[info.vendor?.toLowerCase() ?? ""];
  const emulatesPackedDot = !software && (isOnMetal(info, system) ||
    WITHOUT_PACKED_DOT.some((names) => names.test(description)) ||
    architectures?.test(info.architecture ?? "") === true);
  return { description, software, emulatesPackedDot };
}

/** The platform of `gpu`. It is Deno's only if it is the object that Deno put on `navigator`. */
export function platformOf(gpu: GPU): Platform {
  if (isDawn(gpu)) return DAWN;
  const isDeno = "Deno" in globalThis && gpu === globalThis.navigator?.gpu;
  return isDeno ? DENO : STANDARD;
}
