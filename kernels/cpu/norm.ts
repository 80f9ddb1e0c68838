// Norms on the host's side.

import { type Activation, type FloatRows, GROUP, isQuantized } from "../ops/activation.ts";
import type { Norm, NormOptions } from "../ops/norm.ts";
import type { ColumnRange, GatedNormOptions } from "../ops/recurrent.ts";
import { type CpuCore, floatBits } from "./core.ts";
import { keepCall, keepCalls } from "./kept_calls.ts";
import { inOrder } from "./kernel.ts";
import { cpu } from "./memory.ts";
import { workModule } from "./modules.ts";
import { addGatedNorm, GATED_NORM_ARGUMENTS, NORM_ARGUMENTS } from "./norm/kernel.ts";

/** y = norm(x), or y += norm(x), and then a norm of y if there is a next one. */
export function norm(
  core: CpuCore,
  x: FloatRows,
  y: Activation,
  norm: Norm,
  options: NormOptions = {},
) {
  const { next } = options;
  const run = oneNorm(core, x, y, norm, options);
  if (!next) return run;
  const runNext = oneNorm(core, y as FloatRows, next.y, next.norm, {});
  return (rows: number) => {
    run(rows);
    runNext(rows);
  };
}

function oneNorm(
  core: CpuCore,
  x: FloatRows,
  y: Activation,
  { kind, epsilon, weight, bias, weightPerVector = false }: Norm,
  { source, vectors, accumulate = false }: NormOptions,
) {
  const { first = 0, count = 1, columns = x.columns } = vectors ?? {};
  const to = isQuantized(y)
    ? core.kept("normed", y.groups.size / core.groupBytes * GROUP * 4)
    : cpu(y.floats);
  const words = inOrder(NORM_ARGUMENTS, {
    x: cpu(x.floats).address + 4 * first,
    xStride: 4 * x.stride,
    sources: source ? cpu(source).address : 0,
    y: to.address + 4 * first,
    yStride: 4 * y.stride,
    count,
    columns,
    padded: vectors || accumulate ? columns : y.stride,
    weight: weight ? cpu(weight).address : 0,
    weightStep: weightPerVector ? 4 * columns : 0,
    bias: bias ? cpu(bias).address : 0,
    epsilon: floatBits(epsilon),
    mean: Number(kind === "layer"),
    adds: Number(accumulate),
  });
  return keepCalls(core, (rows: number) => {
    const items = rows * count;
    const call = { kernels: core.common, name: "norm", arguments: words, items };
    const then = isQuantized(y)
      ? core.quantizing(to, cpu(y.groups), rows, y.stride / GROUP)
      : undefined;
    if (count === 1) return [[{ ...call, then }]];
    // It cannot follow the norm's items: a row is complete only after all its vectors.
    return then ? [[call], [{ ...then, items: rows }]] : [[call]];
  });
}

/** The norm of each group of x, multiplied by the function of its gate. */
export function gatedNorm(
  core: CpuCore,
  x: ColumnRange,
  y: FloatRows,
  { groups, weight, sharedWeight = false, epsilon, gate }: GatedNormOptions,
) {
  const kernels = core.kernels(
    `gated norm ${gate?.activation}`,
    () => workModule((module, work) => addGatedNorm(module, work, gate?.activation)),
  );
  const columns = y.columns / groups;
  const addressOf = ({ rows, first }: ColumnRange) => cpu(rows.floats).address + 4 * first;
  const words = inOrder(GATED_NORM_ARGUMENTS, {
    x: addressOf(x),
    xStride: 4 * x.rows.stride,
    z: gate ? addressOf(gate.z) : 0,
    zStride: gate ? 4 * gate.z.rows.stride : 0,
    y: cpu(y.floats).address,
    yStride: 4 * y.stride,
    count: groups,
    columns,
    weight: cpu(weight).address,
    weightStep: sharedWeight ? 0 : 4 * columns,
    epsilon: floatBits(epsilon),
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "gated_norm", arguments: words, items: rows * groups }),
  );
}
