// The weighted sum of the outputs of a row's experts, in WebAssembly. One item is a row.

import type { FloatRows } from "../../ops/activation.ts";
import type { CombineOptions, Routing } from "../../ops/experts.ts";
import type { CpuCore } from "../core.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { forFours } from "../vectors.ts";
import { f32x4, i32, type Memory, type ModuleBuilder, v128 } from "../wasm/mod.ts";

/** The arguments of the sum of pairs; strides in bytes. */
const COMBINE_ARGUMENTS = [
  ...["x", "xStride", "weights", "y", "yStride", "columns", "topK"] as const,
] as const;

/** Adds `combine(record, first, last)` for rows `first` to `last`. */
function addCombine(
  module: ModuleBuilder,
  work: Memory,
  { accumulate, weighted }: { accumulate: boolean; weighted: boolean },
): void {
  addKernel(
    module,
    work,
    { name: "combine", takes: COMBINE_ARGUMENTS },
    (f, given, first, last) =>
      forItems(f, first, last, (row) => {
        const pair = f.let(i32.mul(row, given.topK));
        const x = f.let(i32.add(given.x, i32.mul(pair, given.xStride)));
        const end = f.let(i32.add(x, i32.mul(given.topK, given.xStride)));
        const weights = f.let(i32.add(given.weights, i32.mul(pair, 4)));
        const y = f.let(i32.add(given.y, i32.mul(row, given.yStride)));
        const from = f.local("i32");
        const weight = f.local("i32");
        forFours(f, work, given.columns, (four) => {
          const sum = f.let(v128.const(new Uint8Array(16)));
          f.set(from, x);
          f.set(weight, weights);
          f.while(i32.lt_u(from, end), () => {
            const value = four.load(from);
            const own = weighted ? f32x4.mul(value, work.v128.load32_splat(weight)) : value;
            f.set(sum, f32x4.add(sum, own));
            f.increase(from, given.xStride);
            f.increase(weight, 4);
          });
          four.store(y, accumulate ? f32x4.add(four.load(y), sum) : sum);
        });
      }),
  );
}

/** y = the sum over a row's pairs of weight times x. */
export function combine(
  core: CpuCore,
  { topK, weights }: Routing,
  x: FloatRows,
  y: FloatRows,
  { accumulate = false, weighted = true }: CombineOptions = {},
) {
  const kernels = core.kernels(
    `combine ${accumulate} ${weighted}`,
    () => workModule((module, work) => addCombine(module, work, { accumulate, weighted })),
  );
  const words = inOrder(COMBINE_ARGUMENTS, {
    x: cpu(x.floats).address,
    xStride: 4 * x.stride,
    weights: cpu(weights).address,
    y: cpu(y.floats).address,
    yStride: 4 * y.stride,
    columns: x.stride,
    topK,
  });
  return (rows: number) => core.run([{ kernels, name: "combine", arguments: words, items: rows }]);
}
