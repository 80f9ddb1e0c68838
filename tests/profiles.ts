// The numbers that GPUs of all makers report, on which depends which kernels they get.
// pretended_gpu.ts computes with them on the software driver, recording_gpu.ts only notes kernels.

import { MATRIX_FEATURES, type MatrixSize, type WebGpuDevice } from "../kernels/webgpu/mod.ts";

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
  /** Subgroup matrices, which only Dawn has. */
  readonly matrices?: readonly MatrixSize[];
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

/** GPUs on Dawn with subgroup matrices, as drivers list them. */
export const MATRIX_PROFILES: readonly Profile[] = [
  matrixProfile("NVIDIA", [32, 32], [
    { component: "f16", M: 16, N: 8, K: 16 },
    { component: "f16", M: 16, N: 16, K: 16 },
  ]),
  matrixProfile("AMD", [32, 64], [{ component: "f16", M: 16, N: 16, K: 16 }]),
  matrixProfile("AMD, large subgroups", [64, 64], [{ component: "f16", M: 16, N: 16, K: 16 }]),
  matrixProfile("Intel", [8, 32], [{ component: "f16", M: 8, N: 16, K: 16 }]),
  matrixProfile("Apple", [4, 64], [{ component: "f32", M: 8, N: 8, K: 8 }]),
];

function matrixProfile(
  name: string,
  subgroups: readonly [number, number],
  matrices: readonly MatrixSize[],
): Profile {
  return { name: `subgroup matrices of ${name}`, subgroups, matrices, ...limits("32 KiB") };
}

/**
 * Those of them that differ in what kernels depend on, and the first of those that do not: subgroups
 * of a size that varies are as good as their least one.
 */
export const DISTINCT_PROFILES: readonly Profile[] = PROFILES.filter((profile, i) => {
  const kind = ({ software, memory, ...one }: Profile) =>
    `${[sizeOf(one), one.subgroups?.[0], software, memory]}`;
  return PROFILES.findIndex((other) => kind(other) === kind(profile)) === i;
});

/**
 * Those of them that differ in workgroup memory, or in being software: all that attention and the
 * sampler depend on, as tests/profiles/shaders.ts checks.
 */
export const MEMORY_PROFILES: readonly Profile[] = DISTINCT_PROFILES.filter((profile, i) => {
  const kind = ({ software, memory }: Profile) => `${[software, memory]}`;
  return DISTINCT_PROFILES.findIndex((other) => kind(other) === kind(profile)) === i;
});

function limits(size: keyof typeof LIMITS) {
  const [memory, invocations] = LIMITS[size];
  return { memory, invocations };
}

/** The profile of that name. */
export function profileNamed(name: string): Profile {
  const profile = [...PROFILES, ...MATRIX_PROFILES].find((profile) => profile.name === name);
  if (!profile) throw new RangeError(`Cannot pretend ${name}: no such profile`);
  return profile;
}

/** The features that a profile's adapter lists. */
export function featuresOf({ subgroups, matrices }: Profile): Set<string> {
  return new Set([...(subgroups ? ["subgroups"] : []), ...(matrices ? MATRIX_FEATURES : [])]);
}

/** What a profile's adapter says of itself. */
export function infoOf({ name, subgroups = [0, 0], matrices, software = false }: Profile) {
  return {
    description: name,
    isFallbackAdapter: software,
    subgroupMinSize: subgroups[0],
    subgroupMaxSize: subgroups[1],
    ...(matrices && {
      subgroupMatrixConfigs: [
        // Of no use: others than these two types, and sums in halves.
        { componentType: "i8", resultComponentType: "i32", M: 16, N: 16, K: 16 },
        { componentType: "f16", resultComponentType: "f16", M: 32, N: 32, K: 16 },
        ...matrices.map(({ component, ...size }) => ({
          componentType: component,
          resultComponentType: "f32",
          ...size,
        })),
      ],
    }),
  };
}

/** Invocations of every subgroup, or 0 where that is not known. */
export function sizeOf({ subgroups }: Pick<Profile, "subgroups">): number {
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
    ...(profile.matrices && profile.subgroups
      ? { matrices: { sizes: profile.matrices, mostSubgroup: profile.subgroups[1] } }
      : {}),
  };
}
