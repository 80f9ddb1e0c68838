// Runs steps of a twin on the CPU, operation by operation. What an operation of the twin has written is
// replaced by what the device wrote, so that each operation is judged alone, by inputs that both have.

import type { Device } from "../../kernels/mod.ts";
import type { StepOperation, StepShape } from "../nn/mod.ts";
import { compare, type Difference } from "./compare.ts";
import { outputKeys, rowsOf, unpad, type Written } from "./written.ts";

/** Runs steps and compares what their operations write. */
export class TwinSteps {
  readonly #device: Device;
  readonly #operations: readonly StepOperation[];
  readonly #keys: ReadonlyMap<StepOperation, string>;
  readonly #columns: readonly number[];

  /** @param columns where rows have fewer columns than the device's: which of them, as tokens of logits */
  constructor(
    device: Device,
    operations: readonly StepOperation[],
    columns: readonly number[] = [],
  ) {
    this.#device = device;
    // What layers on the dry device would get.
    this.#operations = operations.filter(({ name }) => name !== "hand over");
    this.#keys = outputKeys(this.#operations);
    this.#columns = columns;
  }

  /** Runs a step whose rows were written, and says where what a device has written in it differs. */
  async differences(shape: StepShape, written: Written): Promise<Difference[]> {
    const device = this.#device;
    const found: Difference[] = [];
    let recorder = device.record();
    for (const operation of this.#operations) {
      const { name, layer, outputName = "", output, encode, encodeAlone = encode } = operation;
      recorder.pass((pass) => encodeAlone(pass, shape));
      const given = written.get(this.#keys.get(operation) ?? "");
      if (!output || !given) continue;
      const rows = rowsOf(operation, shape);
      const bytes = rows * output.stride * 4;
      const staging = device.readback("twin", bytes);
      recorder.copy(output.floats, 0, staging.buffer, 0, bytes);
      device.submit(recorder.finish());
      const padded = new Float32Array(await staging.readNow(bytes));
      staging.free();
      recorder = device.record();
      const actual = given.length > rows * output.columns ? this.#pick(given, rows) : given;
      found.push({
        ...{ name, layer, output: outputName },
        ...compare(actual, unpad(padded, output, rows)),
      });
      // What is not finite would be found again in all that follows.
      if (!actual.every(Number.isFinite)) continue;
      for (let row = 0; row < rows; row++) {
        padded.set(
          actual.subarray(row * output.columns, (row + 1) * output.columns),
          row * output.stride,
        );
      }
      device.write(output.floats, 0, padded);
    }
    device.submit(recorder.finish());
    return found;
  }

  /** The columns that the twin has. */
  #pick(given: Float32Array, rows: number): Float32Array {
    const columns = given.length / rows;
    return Float32Array.from(
      { length: rows * this.#columns.length },
      (_, i) => {
        const row = Math.floor(i / this.#columns.length);
        return given[row * columns + this.#columns[i % this.#columns.length]!]!;
      },
    );
  }
}
