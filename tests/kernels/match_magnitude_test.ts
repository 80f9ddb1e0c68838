// MatchMagnitude against the reference: vectors within rows, whole rows, a vector of zeros.

import { type Device, matchMagnitudeReference } from "../../kernels/mod.ts";
import { deviceTest, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, relative, uploadRows } from "./close.ts";

const ROWS = 3;

/** Scales `count` vectors of y, from column `first` on, to a vector of rows that begin 7 before it. */
async function assertMatch(
  device: Device,
  { columns, first, count }: { columns: number; first: number; count: number },
) {
  const stride = first + count * columns + 1;
  const before = randomFloats(ROWS * stride, columns);
  before.fill(0, first, first + columns); // the first vector of the first row
  const wanted = randomFloats(ROWS * (7 + columns), 2).map((value) => value * 50);
  const y = uploadRows(device, before, stride);
  const reference = { rows: uploadRows(device, wanted, 7 + columns), first: 7 };
  const vectors = { rows: y, first, columns, step: columns };
  submit(device, (pass) => {
    device.matchMagnitude(vectors, reference, { count }).encode(pass, ROWS);
  });
  const expected = before.slice();
  for (let row = 0; row < ROWS; row++) {
    const target = wanted.subarray(row * (7 + columns) + 7, (row + 1) * (7 + columns));
    for (let vector = 0; vector < count; vector++) {
      const start = row * stride + first + vector * columns;
      const own = before.subarray(start, start + columns);
      expected.set(matchMagnitudeReference(own, target), start);
    }
  }
  // Each sum of squares is off by (columns + 1) / 2 ULP, of which the root passes on half; the
  // quotient, the root and the product add less than 7.
  await assertRows(device, y, expected, relative(expected, columns / 2 + 8));
}

deviceTest("MatchMagnitude matches the reference for 1, 40 and 577 columns", async (device) => {
  for (const columns of [1, 40, 577]) await assertMatch(device, { columns, first: 0, count: 1 });
});

deviceTest(
  "MatchMagnitude works on vectors within rows, of one that they share",
  async (device) => {
    await assertMatch(device, { columns: 40, first: 5, count: 3 });
  },
);
