// How an operation is bound to its buffers: most are one kernel with its parameters, whose workgroups
// follow from the counts of a step.

import type { OperationName, OwnOperands } from "../makers.ts";
import type { GpuExpertPairs } from "./expert_pairs.ts";
import type { Gpu } from "./gpu.ts";
import { encodeDispatch, type KernelSource, type Resource, type Workgroups } from "./kernel.ts";
import type { GpuMatrix } from "./matrix.ts";

/** A bound operation of this folder. */
export interface Bound {
  prepare?(...most: number[]): void;
  encode(pass: GPUComputePassEncoder, ...counts: number[]): void;
}

/** What binds operations, by their names. kernels/operands.ts says what each does. */
export type Binders<Name extends OperationName> = {
  readonly [N in Name]: (
    device: Gpu,
    ...operands: OwnOperands<N, { matrix: GpuMatrix; pairs: GpuExpertPairs }>
  ) => Bound;
};

/** A kernel with its buffers and parameters, by their names in its WGSL. */
export function bound(
  device: Gpu,
  source: KernelSource,
  resources: Record<string, Resource>,
  params: Record<string, number>,
  workgroups: (...counts: number[]) => Workgroups,
): Bound {
  const dispatch = device.kernel(source).bind(resources, params);
  return { encode: (pass, ...counts) => encodeDispatch(pass, dispatch, workgroups(...counts)) };
}
