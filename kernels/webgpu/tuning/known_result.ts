// A result of a matrix product of which some rows are known, by the plain reference: what a kernel
// wrote, as floats or as int8 groups, is compared with them.

import {
  type Activation,
  bufferOf,
  floatRows,
  gateReference,
  GROUP,
  isQuantized,
  type QuantizedRows,
} from "../../ops/activation.ts";
import { linearReference } from "../../ops/matrix.ts";
import type { QuantFormat } from "../../quants/mod.ts";
import { type Gpu, GROUP_BYTES } from "../gpu.ts";
import { rowBinders } from "../rows.ts";
import { GpuReadback } from "../readback.ts";
import { randomBits } from "./random_matrix.ts";
import { type Encode, faultIn } from "./trial.ts";

/** Greatest error from another order of additions, as a share of the sum of magnitudes. */
const TOLERANCE = 1e-4;
/** The tolerance for formats with a minimum, whose terms may be several times the weight. */
const TOLERANCE_WITH_MINIMUM = 4e-4;

/** The right values of a row of the result. */
export interface KnownRow {
  readonly row: number;
  readonly values: Float32Array;
  /** Greatest absolute error of each. */
  readonly errors: Float32Array;
}

/** The row that is the product of `x` and the sides of a matrix. */
export function knownRow(
  format: QuantFormat,
  row: number,
  sides: readonly Float32Array[],
  x: Float32Array,
): KnownRow {
  const columns = x.length;
  const tolerance = format.hasMinimum ? TOLERANCE_WITH_MINIMUM : TOLERANCE;
  const magnitudes = x.map(Math.abs);
  const [gate, up] = sides.map((weights) => {
    const shape = { rows: weights.length / columns, columns, tokens: 1 };
    const sums = linearReference(weights.map(Math.abs), magnitudes, shape);
    return {
      values: linearReference(weights, x, shape),
      errors: sums.map((sum) => sum * tolerance),
    };
  });
  if (!up) return { row, ...gate! };
  return {
    row,
    values: gate!.values.map((value, i) => gateReference("silu", value, up.values[i]!)),
    // silu has a slope of at most 1.1, and is at most its argument.
    errors: gate!.errors.map((error, i) =>
      1.1 * error * (Math.abs(up.values[i]!) + up.errors[i]!) +
      (Math.abs(gate!.values[i]!) + 1) * up.errors[i]!
    ),
  };
}

/** A result in a buffer, some of whose rows are known. */
export class KnownResult {
  readonly #device: Gpu;
  readonly #y: Activation;
  readonly #known: readonly KnownRow[];
  readonly #readback: GpuReadback;

  private constructor(device: Gpu, y: Activation, known: readonly KnownRow[]) {
    this.#device = device;
    this.#y = y;
    this.#known = known;
    this.#readback = new GpuReadback(device, "tuning", (bufferOf(y) as GPUBuffer).size);
  }

  /** @param y where kernels write the result */
  static async of(device: Gpu, y: Activation, known: readonly KnownRow[]): Promise<KnownResult> {
    const result = new KnownResult(device, y, known);
    await result.#readback.read(4); // From now on it is read without a wait.
    return result;
  }

  /** What is wrong with the result of a kernel; undefined if nothing is. Errors: GpuError. */
  async faultOf(encode: Encode): Promise<string | undefined> {
    const buffer = bufferOf(this.#y) as GPUBuffer;
    // All bits set are NaN, and codes that do not occur, so that missing writes are found.
    this.#device.write(buffer, 0, new Uint8Array(buffer.size).fill(255));
    const encoder = this.#device.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    encode(pass);
    pass.end();
    encoder.copyBufferToBuffer(buffer, 0, this.#readback.buffer, 0, buffer.size);
    this.#device.gpu.queue.submit([encoder.finish()]);
    const bytes = await this.#readback.readNow(buffer.size);
    const compare = isQuantized(this.#y) ? faultInGroups : faultInFloats;
    for (const known of this.#known) {
      const fault = compare(known, bytes, this.#y.stride);
      if (fault !== undefined) return fault;
    }
  }
}

function faultInFloats(
  { row, values, errors }: KnownRow,
  bytes: ArrayBuffer,
  stride: number,
): string | undefined {
  const actual = new Float32Array(bytes, row * stride * 4, values.length);
  return faultIn({ actual, expected: values, errors });
}

/** Decoded int8 groups may differ by half a code more. */
function faultInGroups(
  { row, values, errors }: KnownRow,
  bytes: ArrayBuffer,
  stride: number,
): string | undefined {
  const actual: number[] = [];
  const bounds = errors.slice();
  for (let first = 0; first < values.length; first += GROUP) {
    const at = (row * stride + first) / GROUP * GROUP_BYTES;
    const codes = new Int8Array(bytes, at, GROUP);
    const [scale] = new Float32Array(bytes, at + GROUP, 1);
    actual.push(...Array.from(codes, (code) => code * scale!));
    const magnitudes = values.subarray(first, first + GROUP).map((value, i) =>
      Math.abs(value) + errors[first + i]!
    );
    const step = Math.max(...magnitudes) / 127;
    for (let i = first; i < first + GROUP; i++) bounds[i]! += 0.51 * step;
  }
  return faultIn({ actual, expected: values, errors: bounds });
}

/** Writes rows of floats into `x`, as int8 groups if it has those. Errors: GpuError. */
export function writeRows(device: Gpu, x: Activation, values: Float32Array<ArrayBuffer>): void {
  const { columns } = x;
  const rows = values.length / columns;
  const floats = isQuantized(x) ? floatRows(device, "tuning x", rows, columns) : x;
  for (let row = 0; row < rows; row++) {
    const own = values.subarray(row * columns, (row + 1) * columns);
    device.write(bufferOf(floats), row * floats.stride * 4, own);
  }
  if (!isQuantized(x)) return;
  const quantize = rowBinders.quantize(device, floats, x as QuantizedRows);
  const encoder = device.gpu.createCommandEncoder();
  const pass = encoder.beginComputePass();
  quantize.encode(pass, rows);
  pass.end();
  device.gpu.queue.submit([encoder.finish()]);
}

/** Rows that int8 groups represent exactly: multiples of a power of two, at most 127 of it. */
export function wholeNumbers(rows: number, columns: number): Float32Array<ArrayBuffer> {
  const next = randomBits(rows * columns);
  return Float32Array.from({ length: rows * columns }, (_, i) => {
    const column = i % columns;
    const unit = 2 ** (Math.floor(column / GROUP) % 4 - 10);
    return unit * (column % GROUP === 0 ? -127 : next() % 31 - 15);
  });
}
