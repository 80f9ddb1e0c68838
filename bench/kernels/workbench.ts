// What all cases of bench/kernels share: memory of a device with random values in it, results that are
// read back and compared, and the time of an operation.

import {
  type Buffer,
  type Device,
  type FloatRows,
  floatRows,
  type Operation,
  type Pass,
  type WorkCounts,
} from "../../kernels/mod.ts";
import { median } from "../report.ts";

/**
 * A way to compute a case, such as a tile or a split. If data has to be cold, it has the operation
 * several times, over different memory.
 */
export interface Variant {
  /** Empty for what the device chooses itself. */
  readonly name: string;
  readonly operations: readonly Operation[];
  encode(operation: Operation, pass: Pass): void;
}

/** A case with its operands on a device. */
export interface BoundCase {
  readonly variants: readonly Variant[];
  readonly counts: WorkCounts;
  /** Sets what the operation changes in place. Called before each check. */
  reset?(): void;
  /** Reads what the operation wrote, and computes some of it by the plain reference. */
  compare(): Promise<Comparison>;
}

/** Values of an operation and of its reference, and how far they may differ. */
export interface Comparison {
  readonly actual: ArrayLike<number>;
  readonly expected: ArrayLike<number>;
  /** Greatest error, as a share of the root mean square of what is expected. */
  readonly tolerance: number;
}

/** An operation over a shape, found by words. */
export interface KernelCase {
  /** Its words, the most general first: operation, format, model, part, sizes, rows. */
  readonly words: readonly string[];
  bind(bench: Workbench): BoundCase;
}

/** Rows that each case runs with. */
export const ROWS: readonly number[] = [1, 4, 16, 256];

/** Rounding in f32, over sums of some thousand terms. */
export const FLOAT_TOLERANCE = 2e-3;

/** For how many seconds an operation is timed, and how often at least. */
const TIMED_SECONDS = 0.2;
const LEAST_RUNS = 5;
const MOST_RUNS = 200;

/** Random values between -1 and 1, the same for the same seed. */
export function randomFloats(count: number, seed: number): Float32Array<ArrayBuffer> {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** One of the counts as a word: "16rows". */
export function counted(count: number, what: string): string {
  return `${count}${what}`;
}

/** A device with memory for a case. */
export class Workbench {
  constructor(readonly device: Device) {}

  /** A buffer with these values. */
  upload(data: ArrayBufferView): Buffer {
    const buffer = this.device.buffer("bench", data.byteLength, "bench");
    this.device.write(buffer, 0, data);
    return buffer;
  }

  /** Rows with these values, [rows, columns]; without, zeros. */
  rows(count: number, columns: number, values?: Float32Array<ArrayBuffer>): FloatRows {
    const rows = floatRows(this.device, "bench", count, columns);
    if (values) this.write(rows, values);
    return rows;
  }

  /** Writes values, [rows, columns], into rows. */
  write({ floats, columns, stride }: FloatRows, values: Float32Array<ArrayBuffer>): void {
    for (let row = 0; row * columns < values.length; row++) {
      const own = values.subarray(row * columns, (row + 1) * columns);
      this.device.write(floats, 4 * row * stride, own);
    }
  }

  /**
   * Fills rows with values that no operation gives, so that rows that are not written are noticed.
   */
  spoil(rows: FloatRows, count: number): void {
    this.write(rows, new Float32Array(count * rows.columns).fill(NaN));
  }

  /** Values of some rows: [rows, columns]. */
  async read({ floats, columns, stride }: FloatRows, rows: readonly number[]) {
    const bytes = 4 * stride;
    const readback = this.device.readback("bench", rows.length * bytes);
    const recorder = this.device.record();
    rows.forEach((row, at) => {
      recorder.copy(floats, row * bytes, readback.buffer, at * bytes, bytes);
    });
    this.device.submit(recorder.finish());
    const all = new Float32Array(await readback.read(rows.length * bytes));
    readback.free();
    const values = new Float32Array(rows.length * columns);
    rows.forEach((_, at) => {
      values.set(all.subarray(at * stride, at * stride + columns), at * columns);
    });
    return values;
  }

  /** Runs an operation once. */
  run(encode: (pass: Pass) => void): void {
    const recorder = this.device.record();
    recorder.pass(encode);
    this.device.submit(recorder.finish());
  }

  /** Median of the seconds that a variant takes. */
  async time({ operations, encode }: Variant): Promise<number> {
    const passes = operations.map((operation) => (pass: Pass) => encode(operation, pass));
    await this.device.time(passes); // compiles, and takes the memory in
    const runs: number[] = [];
    let sum = 0;
    while (runs.length < LEAST_RUNS || (sum < TIMED_SECONDS && runs.length < MOST_RUNS)) {
      const { seconds } = await this.device.time(passes);
      runs.push(...seconds);
      sum += seconds.reduce((sum, time) => sum + time, 0);
    }
    return median(runs);
  }
}

/** The greatest error of a comparison as a fraction of the tolerance; above 1 it is wrong. */
export function errorOf({ actual, expected, tolerance }: Comparison): number {
  if (actual.length !== expected.length) throw new RangeError("Cannot compare: lengths differ");
  let [squares, most] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    squares += expected[i]! ** 2;
    const error = Math.abs(actual[i]! - expected[i]!);
    most = Number.isNaN(error) ? Infinity : Math.max(most, error);
  }
  return most / (tolerance * Math.sqrt(squares / expected.length));
}

/** Some indices below a number, the first and the last among them. */
export function some(count: number, most: number): number[] {
  const picked = Array.from(
    { length: Math.min(count, most) },
    (_, i) => Math.round(i * (count - 1) / Math.max(1, Math.min(count, most) - 1)),
  );
  return [...new Set(picked)];
}

/** An operation as the device chooses to compute it, over a number of rows. */
export function plainly(operation: Operation, ...counts: number[]): Variant[] {
  return [{
    name: "",
    operations: [operation],
    encode: (own, pass) => own.encode(pass, ...counts),
  }];
}

/** Rows of one sequence that begins with them. */
export function oneSequence(rows: number): WorkCounts {
  return { rows, sequences: 1, positions: rows };
}
