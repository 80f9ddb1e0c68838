// Norms of whole rows by their kernel; those of vectors within rows, of rows in another order, and sums
// go the plain way (plain/vectors.ts).

import { type Activation, type FloatRows, GROUP, isQuantized } from "../ops/activation.ts";
import type { Norm, NormOptions } from "../ops/norm.ts";
import { type CpuCore, floatBits } from "./core.ts";
import { NORM_ARGUMENTS } from "./elementwise.ts";
import { cpu } from "./memory.ts";

/** y = norm(x) for whole rows; undefined where the kernel cannot do what is asked for. */
export function rowNorm(
  core: CpuCore,
  x: FloatRows,
  y: Activation,
  { kind, epsilon, weight, bias }: Norm,
  { source, vectors, accumulate }: NormOptions,
) {
  if (source || vectors || accumulate || x.stride !== y.stride) return undefined;
  const to = isQuantized(y) ? core.kept("normed", x.floats.size) : cpu(y.floats);
  const values: Record<string, number> = {
    x: cpu(x.floats).address,
    y: to.address,
    weight: weight ? cpu(weight).address : 0,
    bias: bias ? cpu(bias).address : 0,
    columns: x.columns,
    stride: x.stride,
    epsilon: floatBits(epsilon),
    mean: Number(kind === "layer"),
  };
  const words = NORM_ARGUMENTS.map((name) => values[name]!);
  return (rows: number) => {
    core.run([{ kernels: core.common, name: "norm", arguments: words, items: rows }]);
    if (isQuantized(y)) core.quantize(to, cpu(y.groups), rows, y.stride / GROUP);
  };
}
