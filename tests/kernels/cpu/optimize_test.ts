// Products that are run while a model is read, so that the engine optimizes them.

import { assertEquals } from "@std/assert";
import { CpuCore } from "../../../kernels/cpu/core.ts";
import { joinsVectors } from "../../../kernels/cpu/engine_features.ts";
import { WeightMatrix, WeightWriter } from "../../../kernels/cpu/matrix.ts";
import { ProductOptimizer } from "../../../kernels/cpu/optimize.ts";
import { formatNamed } from "../weights.ts";

for (const name of ["Q8_0", "Q6_K", "F16"]) {
  Deno.test(`the first large ${name} matrix of a model is multiplied, and memory is given back`, () => {
    const core = new CpuCore();
    const optimizer = new ProductOptimizer(core);
    const format = formatNamed(name);
    const kernels = new Set<number>();
    const add = core.pool.add.bind(core.pool);
    core.pool.add = (operation) => {
      kernels.add(operation.kernel);
      add(operation);
    };
    const write = (rows: number) => {
      kernels.clear();
      const matrix = new WeightMatrix("w", format, { rows, columns: 1024 });
      const writer = new WeightWriter(matrix, 0, core, () => optimizer.take(matrix));
      writer.append(new Uint8Array(rows * matrix.rowBytes));
      writer.finish();
      return kernels.size;
    };
    assertEquals(write(64), 1, "a small matrix is only packed");
    const { taken } = core.work;
    const { size } = core.temporary(0);
    // Of few tokens and of many; floats have a kernel for each where vectors are joined.
    const products = name === "F16" && !joinsVectors() ? 1 : 2;
    assertEquals(write(1024), 1 + products);
    assertEquals(core.work.taken, taken + core.temporary(0).size - size);
    assertEquals(write(1024), 1, "the engine has optimized it");
  });
}
