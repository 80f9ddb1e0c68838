// Sparsify against the reference: few and many columns, thresholds above and below the mean, a row
// without deviation.

import { type Device, sparsifyReference } from "../../kernels/mod.ts";
import { deviceTest, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, ULP, uploadRows } from "./close.ts";

async function assertSparsify(device: Device, columns: number, factor: number) {
  const values = randomFloats(3 * columns, columns).map((value) => value + 0.5);
  values.fill(0.25, columns, 2 * columns); // the second row: nothing stands out
  const x = uploadRows(device, values, columns);
  submit(device, (pass) => device.sparsify(x, factor).encode(pass, 3));
  const expected = new Float32Array(values.length);
  const errors = new Float64Array(values.length);
  for (let start = 0; start < values.length; start += columns) {
    const row = values.subarray(start, start + columns);
    expected.set(sparsifyReference(row, factor), start);
    // The mean is off by columns / 2 ULP of the mean magnitude, the deviation by half as many of
    // its own and by the mean's error; quotients, root, product and differences add less than 10.
    const size = row.reduce((sum, value) => sum + Math.abs(value), 0) / columns;
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const error = (columns / 2 + 10) * ULP * (size + 2 * Math.abs(factor) * largest);
    for (let k = 0; k < columns; k++) errors[start + k] = error + ULP * Math.abs(row[k]);
  }
  await assertRows(device, x, expected, (i) => errors[i]);
}

deviceTest("Sparsify matches the reference for 2, 33 and 577 columns", async (device) => {
  for (const columns of [2, 33, 577]) await assertSparsify(device, columns, 1.6448533);
});

deviceTest("Sparsify makes a row with a NaN all NaN", async (device) => {
  const x = uploadRows(device, Float32Array.of(1, NaN, 3, 4, 1, 2, 3, 4), 4);
  submit(device, (pass) => device.sparsify(x, 1).encode(pass, 2));
  const sound = sparsifyReference(Float32Array.of(1, 2, 3, 4), 1);
  const expected = Float32Array.of(NaN, NaN, NaN, NaN, ...sound);
  await assertRows(device, x, expected, () => 20 * ULP);
});

deviceTest("Sparsify has its threshold below the mean for a negative factor", async (device) => {
  await assertSparsify(device, 33, -0.5);
});
