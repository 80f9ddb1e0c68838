// Elementwise operations against their reference: all of them, on columns of wider rows, with an
// operand of other columns, shared by neighbours or by all rows.

import { type Device, type ElementwiseOperation, elementwiseReference } from "../../kernels/mod.ts";
import { deviceTest, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, ULP, uploadRows } from "./close.ts";

const [ROWS, COLUMNS, X_COLUMNS] = [3, 70, 50];

async function assertOperation(device: Device, operation: ElementwiseOperation, options: {
  repeat?: number;
  broadcast?: boolean;
  hasX?: boolean;
  /** The column of x by whose sigmoid the operand is multiplied. */
  gate?: number;
}) {
  const { repeat = 1, broadcast = false, hasX = true, gate } = options;
  const factor = 2.5;
  const before = randomFloats(ROWS * COLUMNS, 1).map((value) => value * 3);
  before[5] = 300; // exp() of it is infinite
  if (operation !== "copy") before[6] = NaN; // What is damaged has to be seen behind it.
  const other = randomFloats(ROWS * X_COLUMNS, 2);
  const y = uploadRows(device, before, COLUMNS);
  const x = uploadRows(device, other, X_COLUMNS);
  submit(device, (pass) => {
    device.elementwise(operation, { rows: y, first: 5, columns: 40 }, {
      ...(hasX ? { x: { rows: x, first: 3 } } : {}),
      ...(gate === undefined ? {} : { gate: { rows: x, first: gate } }),
      broadcast,
      repeat,
      factor,
    }).encode(pass, ROWS);
  });
  const expected = before.slice();
  const errors = new Float64Array(expected.length);
  for (let row = 0; row < ROWS; row++) {
    for (let c = 0; c < 40; c++) {
      const at = row * COLUMNS + 5 + c;
      const own = other[(broadcast ? 0 : row) * X_COLUMNS + 3 + Math.floor(c / repeat)];
      const open = gate === undefined ? 1 : 1 / (1 + Math.exp(-other[row * X_COLUMNS + gate]));
      const b = own * open;
      expected[at] = elementwiseReference(operation, before[at], b, factor);
      // exp(u) is off by 3 + 2|u| ULP, and u here is at most 3.6 |y| cubed over 20, or 2|y|; tanh by
      // the same of one.
      const argument = 3 * Math.abs(before[at]) + 0.08 * Math.abs(before[at]) ** 3;
      const size = operation === "softcap" ? factor : Math.abs(expected[at]);
      // The sigmoid of u, which is at most one, takes exp(u), a quotient and a product more.
      const gated = gate === undefined ? 1 : 9;
      const sum = operation === "add" ? Math.abs(before[at]) + gated * Math.abs(b * factor) : 0;
      errors[at] = (12 + 4 * argument) * ULP * size + ULP * sum + 1e-36;
    }
  }
  await assertRows(device, y, expected, (i) => errors[i]);
}

deviceTest("Elementwise matches the reference for every operation", async (device) => {
  const ofTwo = ["copy", "add", "multiply", "weigh", "sigmoid_gate", "gelu_gate"] as const;
  for (const operation of ofTwo) {
    await assertOperation(device, operation, {});
  }
  for (const operation of ["scale", "softcap", "at_least", "at_most"] as const) {
    await assertOperation(device, operation, { hasX: false });
  }
});

deviceTest("Elementwise shares a column or a row of its operand", async (device) => {
  await assertOperation(device, "add", { repeat: 8 });
  await assertOperation(device, "add", { broadcast: true });
});

deviceTest("Elementwise multiplies its operand by the sigmoid of a column", async (device) => {
  await assertOperation(device, "add", { gate: 0 });
  await assertOperation(device, "add", { gate: 49, broadcast: true });
});

deviceTest("Elementwise works on vectors within rows, of one that they share", async (device) => {
  const before = randomFloats(ROWS * COLUMNS, 1);
  const other = randomFloats(ROWS * X_COLUMNS, 2);
  const y = uploadRows(device, before, COLUMNS);
  const x = uploadRows(device, other, X_COLUMNS);
  const columns = { rows: y, first: 10, columns: 8, step: 20 };
  submit(device, (pass) => {
    device.elementwise("copy", columns, { count: 3, x: { rows: x, first: 4, step: 0 } })
      .encode(pass, ROWS);
  });
  const expected = before.slice();
  for (let row = 0; row < ROWS; row++) {
    for (let vector = 0; vector < 3; vector++) {
      const from = row * X_COLUMNS + 4;
      expected.set(other.subarray(from, from + 8), row * COLUMNS + 10 + 20 * vector);
    }
  }
  await assertRows(device, y, expected, () => 0);
});

deviceTest("Nothing comes of what weighs nothing, whatever it is", async (device) => {
  const y = uploadRows(device, Float32Array.of(NaN, Infinity, 3, NaN, 2, 7), 3);
  const x = uploadRows(device, Float32Array.of(0, 0.5), 1);
  submit(device, (pass) => {
    device.elementwise("weigh", { rows: y }, { x: { rows: x }, repeat: 3 }).encode(pass, 2);
  });
  await assertRows(device, y, Float32Array.of(0, 0, 0, NaN, 1, 3.5), () => 0);
});
