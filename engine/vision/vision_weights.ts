// The weights of an image encoder. Its network is built anew where a larger image needs larger
// buffers; the weights stay, so what was loaded once is given again.

import {
  allocateMatrix,
  type Matrix,
  MatrixWriter,
  type QuantFormat,
  quantFormat,
} from "../../kernels/mod.ts";
import type { StackOptions } from "../affine.ts";
import type { Rows } from "../rows.ts";
import { type GatedStack, type Stack, WeightLoader } from "../weights.ts";

/** GGML's number of f32. */
const F32 = 0;

/** A loader that loads everything once. */
export class VisionWeights extends WeightLoader {
  readonly #known = new Map<string, unknown>();

  override values(name: string): Float32Array {
    return this.#once(["values", name], () => super.values(name));
  }

  override vector(name: string, gain = 1): GPUBuffer {
    return this.#once(["vector", name, gain], () => super.vector(name, gain));
  }

  override stack(rows: readonly Rows[], columns: number, options?: StackOptions): Promise<Stack> {
    const key = ["stack", rows, columns, options];
    return this.#once(key, () => super.stack(rows, columns, options));
  }

  override gated(gate: Rows, up: Rows, columns: number): Promise<GatedStack> {
    return this.#once(["gated", gate, up, columns], () => super.gated(gate, up, columns));
  }

  /**
   * A matrix [rows, columns] of a tensor's values in another order, as f32: no format could keep its
   * blocks. Row and column become the number of the value in the tensor.
   */
  reordered(
    name: string,
    [rows, columns]: readonly [rows: number, columns: number],
    indexOf: (row: number, column: number) => number,
  ): Stack {
    return this.#once(["reordered", name], () => {
      const values = super.values(name);
      const ordered = new Float32Array(rows * columns);
      for (let row = 0, at = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) ordered[at++] = values[indexOf(row, column)];
      }
      const matrix = this.#matrixOf(name, ordered, { rows, columns });
      return { parts: [{ matrix, first: 0 }], columns: rows, adapters: [], readers: [matrix] };
    });
  }

  #matrixOf(name: string, values: Float32Array, shape: { rows: number; columns: number }): Matrix {
    const matrix = allocateMatrix(this.device, name, quantFormat(F32) as QuantFormat, shape);
    const writer = new MatrixWriter(this.device, matrix);
    writer.append(new Uint8Array(values.buffer));
    writer.finish();
    return matrix;
  }

  #once<T>(key: unknown, load: () => T): T {
    const text = JSON.stringify(key);
    if (!this.#known.has(text)) this.#known.set(text, load());
    return this.#known.get(text) as T;
  }
}
