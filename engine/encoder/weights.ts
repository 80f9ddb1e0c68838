// The weights of an encoder. Its network is built again for larger images and longer sounds, but each
// weight is loaded only once: later requests get the same object.

import type { Buffer } from "../../kernels/mod.ts";
import {
  type GatedStack,
  type Rows,
  type Stack,
  type StackOptions,
  WeightLoader,
} from "../weights/mod.ts";

/** A loader that loads each weight once. */
export class EncoderWeights extends WeightLoader {
  readonly #known = new Map<string, unknown>();

  override values(name: string, shape: readonly number[]): Float32Array {
    return this.#once(["values", name], () => super.values(name, shape));
  }

  override vector(name: string, shape: readonly number[], gain = 1): Buffer {
    return this.#once(["vector", name, gain], () => super.vector(name, shape, gain));
  }

  override stack(rows: readonly Rows[], columns: number, options?: StackOptions): Promise<Stack> {
    const key = ["stack", rows, columns, options];
    return this.#once(key, () => super.stack(rows, columns, options));
  }

  override gated(
    gate: Rows,
    up: Rows,
    columns: number,
    options?: StackOptions,
  ): Promise<GatedStack> {
    const key = ["gated", gate, up, columns, options];
    return this.#once(key, () => super.gated(gate, up, columns, options));
  }

  /**
   * A matrix [rows, columns] of f32 that is computed from a tensor, because quantized blocks cannot
   * be rearranged. It has the tensor's bias, if there is one. Errors: GgufError.
   *
   * @param from shape of the tensor, the length of a row first
   */
  derived(
    name: string,
    from: readonly number[],
    shape: { rows: number; columns: number },
    valueAt: (values: Float32Array, row: number, column: number) => number,
  ): Stack {
    return this.#once(["derived", name], () => {
      const { rows, columns } = shape;
      const values = super.values(name, from);
      const derived = new Float32Array(rows * columns);
      for (let row = 0, at = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          derived[at++] = valueAt(values, row, column);
        }
      }
      return this.computed(name, derived, columns);
    });
  }

  #once<T>(key: unknown, load: () => T): T {
    const text = JSON.stringify(key);
    if (!this.#known.has(text)) this.#known.set(text, load());
    return this.#known.get(text) as T;
  }
}
