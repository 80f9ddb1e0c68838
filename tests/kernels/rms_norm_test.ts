// RMSNorm against its reference: rows within one group of columns and over many, both outputs,
// rows picked by number.

import { type Device, RmsNorm, rmsNormReference } from "../../kernels/mod.ts";
import { gpuTest, randomFloats, submit, upload } from "../gpu.ts";
import { assertRows, outputRows, relative, uploadRows } from "./close.ts";

const EPSILON = 1e-3;

interface Case {
  columns: number;
  quantized?: boolean;
  /** Row numbers of x, of which there are five. */
  source?: number[];
}

async function assertNorm(device: Device, { columns, quantized = false, source }: Case) {
  const values = randomFloats(5 * columns, columns);
  values.fill(0, columns, 2 * columns); // a row of zeros stays zero
  values.subarray(2 * columns, 3 * columns).forEach((value, i, row) => row[i] = value * 1e-3);
  const x = uploadRows(device, values, columns);
  const factors = randomFloats(columns, 3);
  const weight = uploadRows(device, factors, columns).floats;
  const order = source ?? [0, 1, 2, 3, 4];
  const y = outputRows(device, order.length, columns, quantized);
  const norm = new RmsNorm(device, x, y, {
    weight,
    epsilon: EPSILON,
    ...(source ? { source: upload(device, Uint32Array.from(source)) } : {}),
  });
  submit(device, (pass) => norm.encode(pass, order.length));
  const all = rmsNormReference(values, factors, EPSILON);
  const expected = new Float32Array(order.length * columns);
  order.forEach((from, to) => {
    expected.set(all.subarray(from * columns, (from + 1) * columns), to * columns);
  });
  // Half of the sum of squares' error passes through the root: columns / 4 ULP. The square, the
  // mean, epsilon, the inverse root and two products add less than 6.
  await assertRows(device, y, expected, relative(expected, columns / 4 + 6));
}

gpuTest("RmsNorm matches the reference for 1, 7, 33 and 577 columns", async (device) => {
  for (const columns of [1, 7, 33, 577]) await assertNorm(device, { columns });
});

gpuTest("RmsNorm writes int8 groups for 1, 7, 33 and 577 columns", async (device) => {
  for (const columns of [1, 7, 33, 577]) await assertNorm(device, { columns, quantized: true });
});

gpuTest("RmsNorm picks rows by number", async (device) => {
  await assertNorm(device, { columns: 33, source: [4, 0, 2, 2, 1, 3, 4] });
});
