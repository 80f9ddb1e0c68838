// Comparing activations on the GPU with a plain reference, value by value, by error bounds that
// follow from the arithmetic. WGSL gives f32 + - * correct rounding, / 2.5 ULP, inverseSqrt 2 ULP
// and exp(x) 3 + 2|x| ULP; a sum of n terms in any order is off by at most n half ULP of the sum of
// their magnitudes (Higham 2002, 4.2). Bounds stated here and in the tests are such worst cases.

import { assert } from "@std/assert";
import {
  type Activation,
  type Buffer,
  bufferOf,
  type Device,
  type FloatRows,
  floatRows,
  GROUP,
  isQuantized,
  type QuantizedRows,
  quantizedRows,
} from "../../kernels/mod.ts";
import { activationBytes } from "../../kernels/cpu/quantize/kernel.ts";
import { GROUP_BYTES } from "../../kernels/webgpu/mod.ts";
import { readFloats, readWords, write } from "../gpu.ts";

/** Distance of 1 to the next f32; half of it is the worst error of one rounding of a value in [1, 2). */
export const ULP = 2 ** -23;

/** Greatest absolute error of value `index`. */
export type Tolerance = (index: number) => number;

/** At most `ulps` units in the last place of each expected value: products, no cancellation. */
export function relative(expected: ArrayLike<number>, ulps: number): Tolerance {
  return (index) => ulps * ULP * Math.abs(expected[index]);
}

/** Fails unless each value is within its tolerance; a NaN is where one is expected. */
export function assertClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: Tolerance,
): void {
  assert(actual.length === expected.length, `${actual.length} values, not ${expected.length}`);
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i] - expected[i]);
    if (error <= tolerance(i) || Number.isNaN(expected[i]) && Number.isNaN(actual[i])) continue;
    const state = `${actual[i]}, expected ${expected[i]} within ${tolerance(i)}`;
    throw new Error(`Cannot accept value ${i} of ${expected.length}: ${state}`);
  }
}

/** Writes values without padding, [rows, columns], into rows, whose padding becomes zero. */
export function writeRows(device: Device, rows: FloatRows, values: Float32Array): void {
  const { columns, stride } = rows;
  const count = values.length / columns;
  const padded = new Float32Array(count * stride);
  for (let row = 0; row < count; row++) {
    padded.set(values.subarray(row * columns, (row + 1) * columns), row * stride);
  }
  write(device, rows.floats, padded);
}

/** Rows on the GPU, from values without padding, [rows, columns]. */
export function uploadRows(device: Device, values: Float32Array, columns: number): FloatRows {
  const rows = floatRows(device, "x", values.length / columns, columns);
  writeRows(device, rows, values);
  return rows;
}

/** Rows for a kernel to write, as f32 or as int8 groups, filled with what it must overwrite. */
export function outputRows(
  device: Device,
  count: number,
  columns: number,
  quantized: boolean,
): Activation {
  const y = quantized
    ? quantizedRows(device, "y", count, columns)
    : floatRows(device, "y", count, columns);
  const buffer = bufferOf(y);
  write(device, buffer, new Float32Array(buffer.size / 4).fill(12345));
  return y;
}

/** The first `count` int8 groups: codes, and (scale, sums of both halves, 0). */
export async function readGroups(
  device: Device,
  { groups, stride }: QuantizedRows,
  count: number,
): Promise<{ codes: Int8Array; scales: Float32Array }[]> {
  if (device.profile.platform.name === "cpu") {
    return await readCpuGroups(device, groups, count, stride);
  }
  const { buffer } = await readWords(device, groups, count * GROUP_BYTES / 4);
  return Array.from({ length: count }, (_, group) => {
    const codes = new Int8Array(buffer, group * GROUP_BYTES, GROUP);
    return { codes, scales: new Float32Array(buffer, group * GROUP_BYTES + GROUP, 4) };
  });
}

/** Those of the CPU: groups of all rows side by side, with whole and negated sums of codes. */
async function readCpuGroups(device: Device, groups: Buffer, count: number, stride: number) {
  const bytes = activationBytes(false);
  const { buffer } = await readWords(device, groups, count * bytes / 4);
  const [inRow, rows] = [stride / GROUP, count * GROUP / stride];
  return Array.from({ length: count }, (_, group) => {
    const at = (group % inRow * rows + Math.floor(group / inRow)) * bytes;
    const [scale] = new Float32Array(buffer, at + GROUP, 1);
    const [first, last] = new Int32Array(buffer, at + GROUP + 4, 2);
    const scales = Float32Array.of(scale, -scale * first, -scale * last, 0);
    return { codes: new Int8Array(buffer, at, GROUP), scales };
  });
}

/**
 * Fails unless the rows are `expected`, [rows, columns], and their padding columns zero. Of int8
 * rows the tolerance holds for what is quantized: codes may be another half step off, the scale by
 * the tolerance of the group's peak, the sums by those of their terms and of summing sixteen.
 */
export async function assertRows(
  device: Device,
  y: Activation,
  expected: Float32Array,
  tolerance: Tolerance,
): Promise<void> {
  const { columns, stride } = y;
  const rows = expected.length / columns;
  const padded = new Float32Array(rows * stride);
  const errors = new Float64Array(rows * stride);
  for (let i = 0; i < expected.length; i++) {
    const at = Math.floor(i / columns) * stride + i % columns;
    padded[at] = expected[i];
    errors[at] = tolerance(i);
  }
  if (isQuantized(y)) await assertQuantized(device, y, padded, errors);
  else assertClose(await readFloats(device, y.floats, padded.length), padded, (i) => errors[i]);
}

async function assertQuantized(
  device: Device,
  y: QuantizedRows,
  expected: Float32Array,
  errors: Float64Array,
): Promise<void> {
  const groups = await readGroups(device, y, expected.length / GROUP);
  groups.forEach(({ codes, scales }, group) => {
    const from = group * GROUP;
    const values = expected.subarray(from, from + GROUP);
    const error = (i: number) => errors[from + i] + 4 * ULP * Math.abs(values[i]);
    const indices = values.map((_, i) => i);
    const largest = indices.reduce((a, b) => Math.abs(values[b]) > Math.abs(values[a]) ? b : a);
    const worst = indices.reduce((most, i) => Math.max(most, error(i)), 0);
    const [scale, ...sums] = scales;
    const expectedScale = Math.abs(values[largest]) / 127;
    assertClose([scale], [expectedScale], () => worst / 127 + 3 * ULP * expectedScale);
    // A code is x * (127 / peak) rounded to a whole number: half a step, and the error of x and of
    // the scale, which counts once per unit of code.
    assertClose(
      Array.from(codes, (code) => code * scale),
      values,
      (i) => scale * (0.5 + 127 * 8 * ULP) + error(i) + worst,
    );
    // Whole numbers are summed without error; their product with the scale is rounded once.
    const total = (from: number, to: number) =>
      scale * codes.slice(from, to).reduce((sum, code) => sum + code, 0);
    const expectedSums = [total(0, 16), total(16, 32), 0];
    assertClose(sums, expectedSums, (half) => 2 * ULP * Math.abs(expectedSums[half]));
  });
}
