// The facts of an adapter of WebGPU that its names and numbers tell, because WebGPU itself tells few:
// whether it is a driver that runs on the CPU, a GPU within a CPU, or reached by OpenGL.

import { operatingSystem } from "../../host/mod.ts";

export interface AdapterFacts {
  /** Its name and that of its driver, for people. */
  readonly description: string;
  /** Whether it is a driver that runs on the CPU. */
  readonly software: boolean;
  /** Whether it shares the memory of the CPU, as far as its name tells. */
  readonly integrated: boolean;
  /** Whether it is reached by OpenGL. */
  readonly openGl: boolean;
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

/** GPUs within a CPU, by the names that drivers give them: WebGPU does not tell. */
const INTEGRATED = [
  /\b(Apple|Adreno|Mali|Immortalis|PowerVR|VideoCore|Tegra|Orin)\b/,
  /\bIntel\b(?!.*(\bArc(\(TM\))? (Pro )?[AB]\d|Data Center|Xe MAX))/,
  /\bRadeon(\(TM\))? (Vega \d+ )?Graphics\b/,
  /\bRadeon(\(TM\))? \d{3,4}[MS]\b/,
];

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
 * GPUs without packed dot products by architecture, where an adapter has no name but these, as in browsers and on Dawn. "rdna-1" is of Navi 10
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

/**
 * The facts that an adapter gives. Not all say whether they are a software fallback, but all have a
 * name.
 */
export function adapterFacts(
  info: GPUAdapterInfo,
  system: string = operatingSystem() ?? "",
): AdapterFacts {
  const description = info.description || info.device || info.vendor || "unnamed adapter";
  const openGl = isOpenGl(info, system);
  const software = info.isFallbackAdapter === true || SOFTWARE.test(description);
  const architectures = ARCHITECTURES_WITHOUT_PACKED_DOT[info.vendor?.toLowerCase() ?? ""];
  const emulatesPackedDot = !software && (isOnMetal(info, system) ||
    WITHOUT_PACKED_DOT.some((names) => names.test(description)) ||
    architectures?.test(info.architecture ?? "") === true);
  const integrated = !software && INTEGRATED.some((names) => names.test(description));
  return { description, software, integrated, openGl, emulatesPackedDot };
}

/**
 * Whether Deno reached the adapter by OpenGL, which knows neither the number of a device nor
 * subgroups: Deno then says 0, and the widest bounds there are. Metal has no such numbers either.
 */
function isOpenGl(info: GPUAdapterInfo, system: string): boolean {
  const { subgroupMinSize, subgroupMaxSize } = info;
  return system !== "darwin" && info.device === "0" &&
    subgroupMinSize === 4 && subgroupMaxSize === 128;
}
