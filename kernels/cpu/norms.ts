// Norms of whole rows by their kernel; those of vectors within rows, of rows in another order, and sums
// go the plain way (plain/vectors.ts).

import { type Activation, type FloatRows, GROUP, isQuantized } from "../ops/activation.ts";
import type { Norm, NormOptions } from "../ops/norm.ts";
import type { CpuCore } from "./core.ts";
import { NORM_ARGUMENTS } from "./elementwise.ts";
import { cpu, takeBuffer } from "./memory.ts";

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
  const record = takeBuffer(core.work, "arguments", 4 * NORM_ARGUMENTS.length);
  const values: Record<string, number> = {
    x: cpu(x.floats).address,
    y: to.address,
    weight: weight ? cpu(weight).address : 0,
    bias: bias ? cpu(bias).address : 0,
    columns: x.columns,
    stride: x.stride,
    mean: Number(kind === "layer"),
  };
  record.words.set(NORM_ARGUMENTS.map((name) => values[name] ?? 0));
  record.floats[NORM_ARGUMENTS.indexOf("epsilon")] = epsilon;
  return (rows: number) => {
    const call = { kernels: core.common, name: "norm", record: record.address, items: rows };
    core.run([call], rows);
    if (isQuantized(y)) core.quantize(to, cpu(y.groups), rows, y.stride / GROUP);
  };
}
