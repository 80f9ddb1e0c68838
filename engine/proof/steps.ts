// Runs steps of some operations on a device as answers run them, fused kernels included, and takes
// a copy of what each has written before the next one can overwrite it; and the same steps on the
// CPU, operation by operation.

import type { Device, FloatRows, Readback } from "../../kernels/mod.ts";
import type { StepOperation, StepShape } from "../nn/mod.ts";
import { compare, type Difference } from "./judgement.ts";

/** Most bytes that are copied before they are read. */
const MOST_BYTES = 32 << 20;

/** Runs steps and reads what their operations write. */
export class CapturedSteps implements Disposable {
  readonly #device: Device;
  readonly #operations: readonly StepOperation[];
  readonly #keys: ReadonlyMap<StepOperation, string>;
  /** Operations whose predecessor, which may do a part of them, is left out. */
  readonly #alone: ReadonlySet<StepOperation>;
  readonly #staging: Readback;

  /**
   * @param all the operations of a step
   * @param operations those of them that run
   */
  constructor(
    device: Device,
    all: readonly StepOperation[],
    operations: readonly StepOperation[],
  ) {
    this.#device = device;
    this.#operations = operations;
    this.#keys = outputKeys(operations);
    const before = new Map(all.map((operation, i) => [operation, all[i - 1]]));
    this.#alone = new Set(
      operations.filter((operation, i) => before.get(operation) !== operations[i - 1]),
    );
    this.#staging = device.readback("proof", MOST_BYTES);
  }

  /** Runs a step whose rows were written. Errors: GpuError, DeviceLostError. */
  async run(shape: StepShape): Promise<Written> {
    const device = this.#device;
    const written = new Map<string, Float32Array>();
    let copied: { key: string; output: FloatRows; rows: number; at: number }[] = [];
    let recorder = device.record();
    let bytes = 0;
    const read = async () => {
      device.submit(recorder.finish());
      const all = new Float32Array(await this.#staging.readNow(Math.max(4, bytes)));
      for (const { key, output, rows, at } of copied) {
        written.set(key, unpad(all.subarray(at / 4), output, rows));
      }
      recorder = device.record();
      copied = [];
      bytes = 0;
    };
    for (const operation of this.#operations) {
      const { encode, encodeAlone = encode, output } = operation;
      recorder.pass((pass) => (this.#alone.has(operation) ? encodeAlone : encode)(pass, shape));
      const key = this.#keys.get(operation);
      if (key === undefined || !output || operation.device !== device) continue;
      const rows = rowsOf(operation, shape);
      const size = rows * output.stride * 4;
      if (size > MOST_BYTES || rows === 0) continue;
      if (bytes + size > MOST_BYTES) await read();
      recorder.copy(output.floats, 0, this.#staging.buffer, bytes, size);
      copied.push({ key, output, rows, at: bytes });
      bytes += size;
    }
    await read();
    return written;
  }

  [Symbol.dispose](): void {
    this.#staging.free();
  }
}

// What the operations of a step write, by keys that are the same on every device.

/** The rows that the operations of a step have written: [rows, columns] each, by {@linkcode outputKeys}. */
export type Written = ReadonlyMap<string, Float32Array>;

/**
 * The keys of operations that write rows of floats which other devices write too: layer, meaning, and a
 * number. Rows whose norm is left to their reader are none of these.
 */
export function outputKeys(operations: readonly StepOperation[]): Map<StepOperation, string> {
  const counts = new Map<string, number>();
  return new Map(operations.flatMap((operation) => {
    const { layer, output, outputName } = operation;
    if (!output || outputName === undefined || output.deferredEpsilon !== undefined) return [];
    const name = `${layer ?? "top"} ${outputName}`;
    const number = counts.get(name) ?? 0;
    counts.set(name, number + 1);
    return [[operation, `${name} ${number}`] as const];
  }));
}

/** Rows that an operation writes in a step. */
export function rowsOf({ rowsOf }: StepOperation, step: StepShape): number {
  return rowsOf?.(step) ?? step.rows;
}

/** Rows without their padding. */
export function unpad(
  floats: Float32Array,
  { columns, stride }: FloatRows,
  rows: number,
): Float32Array<ArrayBuffer> {
  const values = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    values.set(floats.subarray(row * stride, row * stride + columns), row * columns);
  }
  return values;
}

// Runs steps of a twin on the CPU, operation by operation. What an operation of the twin has written is
// replaced by what the device wrote, so that each operation is judged alone, by inputs that both have.

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
