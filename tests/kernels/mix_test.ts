// Mix against the reference: vectors of one buffer in place, as AltUp predicts its streams, and one
// vector of another, as it corrects them.

import { mixReference } from "../../kernels/mod.ts";
import { deviceTest, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, ULP, uploadRows } from "./close.ts";

const ROWS = 3;
const WIDTH = 40; // more than a workgroup
const STREAMS = 4;
const FIRST = 5; // columns before the streams, to be left alone
const COLUMNS = FIRST + STREAMS * WIDTH + 2;

for (
  const { name, inputs, bias } of [
    { name: "all vectors of a row in place", inputs: STREAMS, bias: 0.25 },
    { name: "one vector of another activation to all", inputs: 1, bias: 1 },
  ]
) {
  deviceTest(`Mix adds ${name}, as the reference does`, async (device) => {
    const inPlace = inputs > 1;
    const before = randomFloats(ROWS * COLUMNS, 1);
    const other = randomFloats(ROWS * (WIDTH + 3), 2);
    const factors = randomFloats(ROWS * STREAMS * inputs, 3);
    const y = uploadRows(device, before, COLUMNS);
    const streams = { rows: y, first: FIRST, columns: WIDTH, step: WIDTH };
    const x = inPlace ? streams : { rows: uploadRows(device, other, WIDTH + 3), first: 3 };
    const weights = uploadRows(device, factors, STREAMS * inputs);
    const options = { inputs, outputs: STREAMS, bias };
    submit(device, (pass) => device.mix(weights, x, streams, options).encode(pass, ROWS));

    const expected = before.slice();
    const errors = new Float64Array(before.length);
    for (let row = 0; row < ROWS; row++) {
      const start = row * COLUMNS + FIRST;
      const read = inPlace
        ? before.slice(start, start + STREAMS * WIDTH)
        : other.slice(row * (WIDTH + 3) + 3, (row + 1) * (WIDTH + 3));
      const used = factors.slice(row * STREAMS * inputs, (row + 1) * STREAMS * inputs);
      const sums = mixReference(used, read, options);
      // Each weight and product is rounded once, the sum of the inputs and y once for each of them.
      const sizes = mixReference(
        used.map((value) => Math.abs(value + bias) - bias),
        read.map(Math.abs),
        options,
      );
      sums.forEach((sum, i) => {
        expected[start + i] = before[start + i] + sum;
        errors[start + i] = (inputs / 2 + 2) * ULP * (Math.abs(before[start + i]) + sizes[i]);
      });
    }
    await assertRows(device, y, expected, (i) => errors[i]);
  });
}
