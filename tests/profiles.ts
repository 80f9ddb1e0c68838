// GPUs that tests pretend to have: the software driver under the numbers that hardware reports, so
// that the tiles, lanes and workgroups that a real GPU gets are chosen, and computed. What it cannot
// be is a GPU whose subgroups have another size than its own: there `subgroupAdd` and
// `subgroupShuffleXor` are replaced by functions of these names which give the same values by way of
// workgroup memory; all else of the kernel stays as it is.

import type { WebGpuDevice } from "../kernels/webgpu/mod.ts";

/** What a GPU reports. */
export interface Profile {
  readonly name: string;
  /** Least and most invocations in a subgroup; missing: it has none. */
  readonly subgroups?: readonly [least: number, most: number];
  /** Whether it is a driver that runs on the CPU. */
  readonly software?: boolean;
  /** Bytes of workgroup memory. */
  readonly memory: number;
  /** Most invocations in a workgroup. */
  readonly invocations: number;
}

const SUBGROUPS: Record<string, readonly [number, number] | undefined> = {
  "32,32": [32, 32], // NVIDIA
  "32,64": [32, 64], // AMD since RDNA
  "64,64": [64, 64], // AMD before
  "16,32": [16, 32],
  "8,32": [8, 32], // Intel
  "4,64": [4, 64], // Apple
  "16,16": [16, 16],
  "128,128": [128, 128], // Adreno
  "none": undefined,
};

/** The least that WebGPU promises, and what most GPUs have. */
const LIMITS = { "16 KiB": [16384, 256], "32 KiB": [32768, 1024] } as const;

/** Every GPU that is pretended. */
export const PROFILES: readonly Profile[] = [
  ...Object.entries(SUBGROUPS).flatMap(([sizes, subgroups]) =>
    Object.entries(LIMITS).map(([size, [memory, invocations]]) => ({
      name: `${sizes === "none" ? "no subgroups" : `subgroups of ${sizes}`}, ${size}`,
      ...(subgroups ? { subgroups } : {}),
      memory,
      invocations,
    }))
  ),
  { name: "software, subgroups of 4,4", subgroups: [4, 4], software: true, ...limits("32 KiB") },
  { name: "software, no subgroups", software: true, ...limits("16 KiB") },
];

/**
 * Those of them that differ in what kernels depend on, and the first of those that do not: subgroups
 * of a size that varies are as good as their least one.
 */
export const DISTINCT_PROFILES: readonly Profile[] = PROFILES.filter((profile, i) => {
  const kind = ({ software, memory, ...one }: Profile) =>
    `${[sizeOf(one), one.subgroups?.[0], software, memory]}`;
  return PROFILES.findIndex((other) => kind(other) === kind(profile)) === i;
});

function limits(size: keyof typeof LIMITS) {
  const [memory, invocations] = LIMITS[size];
  return { memory, invocations };
}

/** The profile of that name. */
export function profileNamed(name: string): Profile {
  const profile = PROFILES.find((profile) => profile.name === name);
  if (!profile) throw new RangeError(`Cannot pretend ${name}: no such profile`);
  return profile;
}

/** Invocations of every subgroup, or 0 where that is not known. */
function sizeOf({ subgroups }: Pick<Profile, "subgroups">): number {
  return subgroups && subgroups[0] === subgroups[1] ? subgroups[0] : 0;
}

/** What a profile says of the device, for what is to be computed without one. */
export function deviceProfile(profile: Profile): WebGpuDevice["profile"] {
  return {
    platform: {
      name: "standard",
      subgroupsDirective: true,
      sleepyMap: false,
      emptyDispatches: true,
    },
    capabilities: {
      subgroups: profile.subgroups !== undefined,
      timestamps: false,
      packedDot: true,
      subgroupSize: sizeOf(profile),
      leastSubgroup: profile.subgroups?.[0] ?? 0,
      software: profile.software ?? false,
    },
    description: profile.name,
    vendor: 0,
    device: 0,
    maxBindingSize: 2 ** 27,
    maxBufferSize: 2 ** 28,
    limits: {
      maxBufferSize: 2 ** 28,
      maxStorageBufferBindingSize: 2 ** 27,
      maxComputeWorkgroupStorageSize: profile.memory,
      maxComputeInvocationsPerWorkgroup: profile.invocations,
      maxComputeWorkgroupSizeX: profile.invocations,
    } as GPUSupportedLimits,
  };
}

/** Deno's GPU under the numbers of a profile, for `WebGpuDevice.open()`. */
export function pretendGpu(profile: Profile): GPU {
  const real = navigator.gpu;
  const { wgslLanguageFeatures } = real as GPU & { wgslLanguageFeatures: ReadonlySet<string> };
  return {
    wgslLanguageFeatures,
    async requestAdapter(options?: GPURequestAdapterOptions) {
      const adapter = await real.requestAdapter(options);
      return adapter && pretendAdapter(adapter, profile);
    },
  } as unknown as GPU;
}

function pretendAdapter(adapter: GPUAdapter, profile: Profile): GPUAdapter {
  const limits: Record<string, unknown> = {};
  for (const name in adapter.limits) {
    limits[name] = adapter.limits[name as keyof GPUSupportedLimits];
  }
  Object.assign(limits, deviceProfile(profile).limits);
  const [subgroupMinSize, subgroupMaxSize] = profile.subgroups ?? [0, 0];
  return {
    features: new Set(profile.subgroups ? ["subgroups"] : []),
    limits,
    info: {
      description: `${profile.name} (pretended)`,
      isFallbackAdapter: profile.software ?? false,
      subgroupMinSize,
      subgroupMaxSize,
    },
    async requestDevice(descriptor: GPUDeviceDescriptor) {
      const features = [...descriptor.requiredFeatures ?? []];
      if (!profile.subgroups && features.includes("subgroups" as GPUFeatureName)) {
        throw new TypeError("no subgroups");
      }
      const device = await adapter.requestDevice(descriptor);
      const createShaderModule = device.createShaderModule.bind(device);
      Object.defineProperty(device, "createShaderModule", {
        value: ({ code, ...rest }: GPUShaderModuleDescriptor) =>
          createShaderModule({ ...rest, code: pretendedCode(profile, code) }),
      });
      return device;
    },
  } as unknown as GPUAdapter;
}

/** The code that is computed where a GPU of this profile would compute `code`. */
export function pretendedCode(profile: Profile, code: string): string {
  return withSubgroupsOf(sizeOf(profile), code);
}

/**
 * The code of a kernel without subgroups, but with `subgroupAdd` over so many neighbouring invocations,
 * and shuffles.
 */
function withSubgroupsOf(size: number, code: string): string {
  const plain = code.replace("enable subgroups;\n", ""); // Deno has no such directive
  if (!/\bsubgroup\w+\(/.test(plain)) return plain;
  if (/\bsubgroup(?!Add\(|ShuffleXor\()\w+\(/.test(plain)) {
    throw new RangeError("Cannot pretend subgroups: only sums and shuffles are replaced");
  }
  const main = /\bfn main\([^{]*\) \{\n/;
  if (!main.test(plain) || !/@builtin\(local_invocation_index\) thread: u32/.test(plain)) {
    throw new RangeError("Cannot pretend subgroups: main() does not know its thread");
  }
  // A barrier a call: the next call writes into the other array, and the one after that writes only
  // when all have read. Drivers that run on the CPU cut a kernel into pieces at its barriers.
  return plain.replace(main, "$&  pretended_thread = thread;\n") + `
var<private> pretended_thread: u32;
var<private> pretended_turn: u32;
var<workgroup> pretended_values: array<array<f32, WORKGROUP>, 2>;
fn pretended_share(value: f32) -> u32 {
  pretended_turn = 1u - pretended_turn;
  let turn = pretended_turn;
  pretended_values[turn][pretended_thread] = value;
  workgroupBarrier();
  return turn;
}
fn subgroupShuffleXor(value: f32, mask: u32) -> f32 {
  let turn = pretended_share(value);
  return pretended_values[turn][pretended_thread ^ mask];
}
fn subgroupAdd(value: f32) -> f32 {
  let turn = pretended_share(value);
  // All add up in the same order, as all of a subgroup have the same sum.
  let first = pretended_thread - pretended_thread % ${size || 1}u;
  var sum = 0.0;
  for (var i = first; i < first + ${size || 1}u; i++) {
    sum += pretended_values[turn][i];
  }
  return sum;
}
`;
}
