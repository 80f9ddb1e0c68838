// Products by subgroup matrices on GPUs that a driver without them pretends to be: what
// matmul_matrices_test.ts and profiles/matrices.ts run.

import { MATRICES, WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { pretendGpu } from "../pretended_gpu.ts";
import type { Profile } from "../profiles.ts";
import { assertExperts, type Case as ExpertCase } from "./experts_case.ts";
import { assertLinear, type Case } from "./linear_case.ts";
import { formatNamed } from "./weights.ts";

/** Weights and activations are each rounded to 11 bits. */
const ROUNDING = 2 ** -10;

/** Whether all variants are computed. */
const SWEEP = Deno.env.has("QUERN_SWEEP");

/** Whether a profile has matrices for int8 activations; else it has them for floats. */
export function hasHalves({ matrices = [] }: Profile): boolean {
  return matrices.some(({ component }) => component === "f16");
}

/** A format of each kind: one scale; with a minimum; two scales; two with a minimum; floats. */
export function formatsOf(profile: Profile): string[] {
  return hasHalves(profile) ? ["Q8_0", "Q4_K", "Q6_K", "Q2_K"] : ["F16", "Q4_K"];
}

/** Products of which no tile divides rows and tokens, and those that tiles just fit. */
export function matrixCases(formats: readonly string[]): Case[] {
  const size = { format: "Q4_0", rows: 70, columns: 96, tokens: 72 };
  const columnsOf = (format: string) => Math.max(96, formatNamed(format).blockSize);
  return [
    ...formats.map((format) => ({ ...size, format, columns: columnsOf(format) })),
    { ...size, columns: 32, rows: 1, tokens: 33 },
    { ...size, rows: 64, tokens: 64 },
    { ...size, rows: 130, tokens: 130, affine: true, options: { accumulate: true, first: 5 } },
    { ...size, paired: true, affine: true },
    { ...size, rows: 96, paired: true, quantized: true },
    ...(SWEEP ? [{ ...size, rows: 96, quantized: true }] : []),
  ];
}

/** Cases of products by experts. */
export function expertCases(): ExpertCase[] {
  const size = { format: "Q4_0", rows: 70, columns: 96, tokens: 72, experts: 2, topK: 2 };
  return [{ ...size, perPair: true }, ...(SWEEP ? [{ ...size, paired: true, affine: true }] : [])];
}

/** Fails unless products on a GPU of this profile are those of plain loops. */
export async function assertMatrices(
  profile: Profile,
  cases: readonly Case[],
  gathered: readonly ExpertCase[] = [],
): Promise<void> {
  using device = await WebGpuDevice.open({ gpu: pretendGpu(profile) });
  const integer = hasHalves(profile);
  const rounding = integer ? ROUNDING : 0;
  await device.scoped("multiply", async () => {
    for (const shape of cases) {
      const options = { ...shape.options, tile: MATRICES } as const;
      await assertLinear(device, { ...shape, integer, rounding, options });
    }
    for (const shape of gathered) {
      await assertExperts(device, { ...shape, integer, rounding, tile: MATRICES, cols: 64 });
    }
  });
}
