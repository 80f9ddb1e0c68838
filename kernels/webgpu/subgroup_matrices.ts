// Subgroup matrices: which sizes a device multiplies in one instruction, which of them a product
// uses, and how matmul_matrices.wgsl divides a tile among subgroups. WebGPU has no standard for them
// yet; Dawn has an experimental feature, and its adapters list what they support.

import { GROUP } from "../ops/activation.ts";
import type { Constants } from "./template.ts";

/** Features that a device needs for subgroup matrices. */
export const MATRIX_FEATURES = ["subgroups", "shader-f16", "chromium-experimental-subgroup-matrix"];

/** Extensions of WGSL that matmul_matrices.wgsl uses. */
export const MATRIX_EXTENSIONS = ["f16", "subgroups", "chromium_experimental_subgroup_matrix"];

/** Invocations of a workgroup of matmul_matrices.wgsl. */
export const MATRIX_WORKGROUP = 128;

/** Rows and tokens of its tile. */
const TILE = 64;

/** Matrices that a subgroup multiplies, with sums in f32: M rows by K columns, times K by N. */
export interface MatrixSize {
  /** The type of the factors. */
  readonly component: "f16" | "f32";
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** The subgroup matrices of a device. */
export interface SubgroupMatrices {
  readonly sizes: readonly MatrixSize[];
  /** Most invocations in a subgroup. */
  readonly mostSubgroup: number;
}

/** An entry of the list of an adapter, with types that may be others than ours. */
interface Configuration {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** The subgroup matrices of a device with these features; undefined if it has none that are of use. */
export function readSubgroupMatrices(
  info: GPUAdapterInfo & { subgroupMatrixConfigs?: Iterable<Configuration> },
  features: { has(name: string): boolean },
): SubgroupMatrices | undefined {
  const { subgroupMatrixConfigs = [], subgroupMaxSize: mostSubgroup = 0 } = info;
  if (!MATRIX_FEATURES.every((feature) => features.has(feature))) return undefined;
  const sizes: MatrixSize[] = [];
  for (const { componentType, resultComponentType, M, N, K } of subgroupMatrixConfigs) {
    const component = (["f16", "f32"] as const).find((type) => type === componentType);
    if (component && resultComponentType === "f32") sizes.push({ component, M, N, K });
  }
  return sizes.length > 0 ? { sizes, mostSubgroup } : undefined;
}

/**
 * The largest size that divides a tile; undefined if none does. Int8 activations are multiplied in
 * f16, or in f32 if the device has only that; floats in f32, because they may exceed f16.
 */
export function matrixSize(
  { sizes, mostSubgroup }: SubgroupMatrices,
  { integer }: { integer: boolean },
): MatrixSize | undefined {
  const division = divide(mostSubgroup);
  if (!division) return undefined;
  const fitting = sizes.filter(({ M, N, K }) =>
    // The rows of a tile are one side of 64, or two of 32.
    GROUP % K === 0 && GROUP % M === 0 && division.rows % M === 0 && division.tokens % N === 0
  );
  const volume = ({ M, N, K }: MatrixSize) => M * N * K;
  const largest = (component: MatrixSize["component"]) =>
    fitting.filter((size) => size.component === component)
      .sort((a, b) => volume(b) - volume(a))[0];
  return integer ? largest("f16") ?? largest("f32") : largest("f32");
}

/** Constants of matmul_matrices.wgsl for a size that {@linkcode matrixSize} gave. */
export function matrixConstants(
  { mostSubgroup }: SubgroupMatrices,
  { component, M, N, K }: MatrixSize,
): Constants {
  const { active, across, rows, tokens } = divide(mostSubgroup)!;
  return {
    HALVES: component === "f16",
    M,
    N,
    K,
    ACTIVE: active,
    SUBGROUP_ROWS: across,
    ROW_BLOCKS: rows / M,
    TOKEN_BLOCKS: tokens / N,
  };
}

/** Bytes of workgroup memory of matmul_matrices.wgsl. */
export function matrixBytes({ component }: MatrixSize): number {
  // STRIDE of the kernel: rows of halves are padded.
  const row = component === "f16" ? 2 * (GROUP + 8) : 4 * GROUP;
  return 2 * TILE * row + 4 * TILE * TILE;
}

/**
 * How subgroups share a tile: `active` of them make `rows` by `tokens` outputs each, `across` of them
 * side by side over the rows. Undefined if a workgroup is no whole number of subgroups.
 */
function divide(mostSubgroup: number) {
  const active = MATRIX_WORKGROUP / mostSubgroup;
  if (active < 1 || active > TILE || !Number.isInteger(Math.log2(active))) return undefined;
  const across = 2 ** Math.floor(Math.log2(active) / 2);
  return { active, across, rows: TILE / across, tokens: TILE * across / active };
}
