// Rows gathered side by side, and attention to spans of rows, against their references: heads of sizes that
// are no multiples of a vector, spans that are empty, cut and longer than a workgroup, relative positions,
// and a cap of the scores.

import {
  type Device,
  distanceRow,
  floatRows,
  gatherReference,
  NO_ROW,
  spanAttentionReference,
} from "../../kernels/mod.ts";
import { deviceTest, submit, upload } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, uploadRows } from "./close.ts";

deviceTest("gatherRows puts rows side by side, and zeros for none", async (device) => {
  const [rows, columns, taps] = [5, 70, 3];
  const values = randomFloats(rows * columns, 1);
  const x = uploadRows(device, values, columns);
  const sources = [0, 4, NO_ROW, NO_ROW, 2, 2, 3, NO_ROW, 0, 1, 1, 1];
  const y = floatRows(device, "y", 4, taps * x.stride);
  const gather = device.gatherRows(x, upload(device, Uint32Array.from(sources)), y, { taps });
  submit(device, (pass) => gather.encode(pass, 4));
  const padded = new Float32Array(rows * x.stride);
  for (let row = 0; row < rows; row++) {
    padded.set(values.subarray(row * columns, (row + 1) * columns), row * x.stride);
  }
  await assertRows(device, y, gatherReference(padded, x.stride, sources), () => 0);
});

interface Case {
  heads: number;
  headDim: number;
  valueDim: number;
  softcap?: number;
  isRelative: boolean;
}

async function assertAttends(device: Device, options: Case): Promise<void> {
  const { heads, headDim, valueDim, softcap, isRelative } = options;
  const [rows, width, first] = [90, heads * headDim, 3];
  const scale = 1 / Math.sqrt(headDim);
  const columns = first + 3 * width + heads * valueDim;
  const values = randomFloats(rows * columns, headDim);
  const x = uploadRows(device, values, columns);
  const table = randomFloats((2 * rows - 1) * width, valueDim);
  const spans = Uint32Array.from(
    { length: 2 * rows },
    (_, i) => i < 2 ? 5 : i % 2 === 0 ? Math.max(0, i / 2 - 70) : Math.min(rows, (i + 5) / 2),
  );
  const place = (part: number) => ({ rows: x, first: first + part * width });
  const y = floatRows(device, "y", rows, heads * valueDim);
  const positions = { queries: place(2), table: uploadRows(device, table, width) };
  const attention = device.spanAttention(
    place(0),
    place(1),
    place(3),
    upload(device, spans),
    y,
    { heads, headDim, valueDim, scale, softcap },
    isRelative ? positions : undefined,
  );
  submit(device, (pass) => attention.encode(pass, rows));

  const expected = new Float32Array(rows * heads * valueDim);
  const part = (row: number, from: number, count: number) =>
    values.subarray(row * columns + from, row * columns + from + count);
  for (let row = 0; row < rows; row++) {
    const seen = Array.from(
      { length: spans[2 * row + 1] - spans[2 * row] },
      (_, i) => spans[2 * row] + i,
    );
    for (let head = 0; head < heads && seen.length > 0; head++) {
      const at = first + head * headDim;
      const asked = part(row, at + 2 * width, headDim);
      const biases = seen.map((key) => {
        const entry = distanceRow(row - key) * width + head * headDim;
        return isRelative ? asked.reduce((sum, value, i) => sum + value * table[entry + i], 0) : 0;
      });
      const result = spanAttentionReference(
        part(row, at, headDim),
        seen.map((key) => part(key, at + width, headDim)),
        seen.map((key) => part(key, first + 3 * width + head * valueDim, valueDim)),
        { scale, softcap },
        biases,
      );
      expected.set(result, (row * heads + head) * valueDim);
    }
  }
  // Scores of a few units, whose errors the exponential multiplies; values are below one.
  await assertRows(device, y, expected, () => 1e-5);
}

deviceTest("spanAttention attends to spans", async (device) => {
  await assertAttends(device, { heads: 2, headDim: 16, valueDim: 16, isRelative: false });
  await assertAttends(device, { heads: 1, headDim: 20, valueDim: 150, isRelative: false });
});

deviceTest("spanAttention adds relative positions, and caps scores", async (device) => {
  await assertAttends(device, { heads: 3, headDim: 16, valueDim: 16, isRelative: true });
  const capped = { heads: 2, headDim: 18, valueDim: 18, isRelative: true, softcap: 0.7 };
  await assertAttends(device, capped);
});
