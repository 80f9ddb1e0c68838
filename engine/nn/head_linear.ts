// A product of each head's vector with that head's own matrix, which multi-head latent attention
// needs for queries and results. The kernel is that of experts, with every head chosen.

import type { FloatRows, Matrix, QuantizedRows } from "../../kernels/mod.ts";
import type { Input, Network } from "./network.ts";

/**
 * y[row, head] = x[row, head] W[head]^T.
 * @param matrix [heads * outputs, columns], loaded as experts
 * @param x [rows, heads * columns], `columns` a multiple of 32
 * @param y [rows, heads * step] of which the first `outputs` of every `step` columns are written
 */
export function headLinear(
  network: Network,
  matrix: Matrix,
  heads: number,
  x: Input,
  y: { rows: FloatRows; step: number },
): void {
  const { device, memory } = network;
  const { rows } = network.options.limits;
  const chosen = memory.shared(`heads ${heads}`, () => {
    const everyHead = Uint32Array.from({ length: rows * heads }, (_, pair) => pair % heads);
    const ids = memory.constant("heads", everyHead);
    const unused = memory.constant("no weights", new Float32Array(4));
    const routing = { experts: heads, topK: heads, ids, weights: unused, count: unused };
    return device.expertPairs(routing, rows, { every: true });
  });
  network.addRows(chosen);
  const form = network.formOf(x, matrix);
  const vectors = { ...form, columns: matrix.columns, stride: matrix.columns };
  const results = { ...y.rows, columns: y.step, stride: y.step };
  const input = vectors as FloatRows | QuantizedRows;
  network.addRows(
    network.make.expertLinear(matrix, chosen, input, results, { share: 1, vectors: heads }),
  );
}
