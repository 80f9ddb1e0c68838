// RoPE by angles of each row against its reference: neighbours, halves and quarters of a head as
// pairs, in rows that hold more than what table.

import { type Device, rotateRowsReference } from "../../kernels/mod.ts";
import { deviceTest, submit, upload } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, ULP, uploadRows } from "./close.ts";

async function assertRotated(
  device: Device,
  heads: number,
  headDim: number,
  distance: number,
) {
  const [rows, columns] = [5, heads * headDim + 7];
  const values = randomFloats(rows * columns, headDim);
  const angles = randomFloats(rows * headDim / 2, distance);
  const table = new Float32Array(2 * angles.length);
  angles.forEach((angle, i) => table.set([Math.cos(9 * angle), Math.sin(9 * angle)], 2 * i));
  const x = uploadRows(device, values, columns);
  const options = { heads, headDim, distance };
  const rotate = device.rotateRows(x, upload(device, table), options);
  submit(device, (pass) => rotate.encode(pass, rows));
  const expected = values.slice();
  const errors = new Float64Array(values.length);
  for (let row = 0; row < rows; row++) {
    const own = table.subarray(row * headDim, (row + 1) * headDim);
    for (let head = 0; head < heads; head++) {
      const from = row * columns + head * headDim;
      const before = values.subarray(from, from + headDim);
      expected.set(rotateRowsReference(before, own, distance), from);
      // Two products and a sum, each half an ULP of at most the pair's length.
      const longest = before.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      errors.fill(2 * ULP * Math.SQRT2 * longest, from, from + headDim);
    }
  }
  await assertRows(device, x, expected, (i) => errors[i]);
}

deviceTest("RotateRows matches the reference for every pairing", async (device) => {
  await assertRotated(device, 3, 24, 1);
  await assertRotated(device, 4, 20, 10);
  await assertRotated(device, 1, 72, 18);
  await assertRotated(device, 40, 8, 2);
});
