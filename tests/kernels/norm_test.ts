// RMSNorm and LayerNorm against the reference: rows within one group of columns and over many, both
// outputs, rows picked by number, heads within a row in place, sums onto another activation, and the
// norms of these sums.

import { type Device, type FloatRows, normReference } from "../../kernels/mod.ts";
import { deviceTest, submit, upload } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, relative, type Tolerance, ULP, uploadRows } from "./close.ts";

const EPSILON = 1e-3;

interface Case {
  columns: number;
  kind?: "rms" | "layer";
  quantized?: boolean;
  /** Row numbers of x, of which there are five. */
  source?: number[];
}

/**
 * Half of the sum of squares' error passes through the root: columns / 4 ULP. The square, the mean,
 * epsilon, the inverse root and two products add less than 6. LayerNorm's mean is off by columns / 2
 * ULP of the largest value, and everything is normalized to a magnitude of at most sqrt(columns).
 */
function bound(expected: Float32Array, { columns, kind = "rms" }: Case): Tolerance {
  const product = relative(expected, columns / 4 + 8);
  if (kind === "rms") return product;
  return (i) => product(i) + columns * Math.sqrt(columns) * 8 * ULP;
}

async function assertNorm(device: Device, options: Case) {
  const { columns, kind = "rms", quantized = false, source } = options;
  const values = randomFloats(5 * columns, columns);
  values.fill(0, columns, 2 * columns); // a row of zeros stays zero
  values.subarray(2 * columns, 3 * columns).forEach((value, i, row) => row[i] = value * 1e-3);
  const x = uploadRows(device, values, columns);
  const weight = randomFloats(columns, 3);
  const bias = kind === "layer" ? randomFloats(columns, 4) : undefined;
  const order = source ?? [0, 1, 2, 3, 4];
  const y = outputRows(device, order.length, columns, quantized);
  const norm = device.norm(x, y, {
    kind,
    epsilon: EPSILON,
    weight: uploadRows(device, weight, columns).floats,
    ...(bias ? { bias: uploadRows(device, bias, columns).floats } : {}),
  }, source ? { source: upload(device, Uint32Array.from(source)) } : {});
  submit(device, (pass) => norm.encode(pass, order.length));
  const all = normReference(values, columns, {
    kind,
    epsilon: EPSILON,
    weight,
    ...(bias ? { bias } : {}),
  });
  const expected = new Float32Array(order.length * columns);
  order.forEach((from, to) => {
    expected.set(all.subarray(from * columns, (from + 1) * columns), to * columns);
  });
  await assertRows(device, y, expected, bound(expected, options));
}

deviceTest("Normalize matches RMSNorm's reference for 1, 7, 33 and 577 columns", async (device) => {
  for (const columns of [1, 7, 33, 577]) await assertNorm(device, { columns });
});

deviceTest(
  "Normalize matches LayerNorm's reference for 2, 7, 33 and 577 columns",
  async (device) => {
    for (const columns of [2, 7, 33, 577]) await assertNorm(device, { columns, kind: "layer" });
  },
);

deviceTest("Normalize writes int8 groups for 1, 7, 33 and 577 columns", async (device) => {
  for (const columns of [1, 7, 33, 577]) await assertNorm(device, { columns, quantized: true });
});

deviceTest("Normalize picks rows by number", async (device) => {
  await assertNorm(device, { columns: 33, source: [4, 0, 2, 2, 1, 3, 4] });
});

deviceTest("Normalize works on the heads of a row in place", async (device) => {
  const [rows, columns] = [3, 100]; // heads of 20 in columns 20 to 79
  for (const weightPerVector of [false, true]) {
    const values = randomFloats(rows * columns, 1);
    const x = uploadRows(device, values, columns);
    const weight = randomFloats(weightPerVector ? 60 : 20, 2);
    const vectors = { first: 20, count: 3, columns: 20 };
    const norm = { kind: "rms", epsilon: EPSILON, weight: upload(device, weight) } as const;
    submit(device, (pass) => {
      device.norm(x, x, { ...norm, weightPerVector }, { vectors }).encode(pass, rows);
    });
    const expected = values.slice();
    for (let row = 0; row < rows; row++) {
      for (let head = 0; head < 3; head++) {
        const start = row * columns + 20 + 20 * head;
        const first = weightPerVector ? 20 * head : 0;
        const factors = weight.subarray(first, first + 20);
        const head20 = values.subarray(start, start + 20);
        expected.set(
          normReference(head20, 20, { kind: "rms", epsilon: EPSILON, weight: factors }),
          start,
        );
      }
    }
    await assertRows(device, x, expected, relative(expected, 13));
  }
});

deviceTest("Normalize norms the sum as well, in floats and int8 groups", async (device) => {
  const rows = 3;
  for (const columns of [1, 33, 577]) {
    for (const quantized of [false, true]) {
      const values = randomFloats(rows * columns, 1);
      const before = randomFloats(rows * columns, 2);
      const [weight, nextWeight] = [3, 4].map((seed) => randomFloats(columns, seed));
      const y = uploadRows(device, before, columns);
      const norm = { kind: "rms", epsilon: EPSILON } as const;
      const next = outputRows(device, rows, columns, quantized);
      const weightOf = (values: Float32Array) => uploadRows(device, values, columns).floats;
      const operation = device.norm(
        uploadRows(device, values, columns),
        y,
        { ...norm, weight: weightOf(weight) },
        { accumulate: true, next: { norm: { ...norm, weight: weightOf(nextWeight) }, y: next } },
      );
      submit(device, (pass) => operation.encode(pass, rows));
      const normed = normReference(values, columns, { ...norm, weight });
      const sum = normed.map((value, i) => value + before[i]);
      const error = relative(normed, columns / 4 + 8);
      const errors = sum.map((value, i) => error(i) + ULP * Math.abs(value));
      await assertRows(device, y, sum, (i) => errors[i]);
      const expected = normReference(sum, columns, { ...norm, weight: nextWeight });
      const own = relative(expected, columns / 4 + 8);
      // The sum's errors pass through the factor of its norm, and change that factor by their share.
      await assertRows(device, next, expected, (i) => {
        const row = i - i % columns;
        let [squares, off] = [0, 0];
        for (let at = row; at < row + columns; at++) {
          squares += sum[at] ** 2;
          off += Math.abs(sum[at]) * errors[at];
        }
        const scale = 1 / Math.sqrt(squares / columns + EPSILON);
        const share = off / (squares + EPSILON * columns);
        return own(i) + errors[i] * scale * Math.abs(nextWeight[i % columns]) +
          share * Math.abs(expected[i]);
      });
    }
  }
});

deviceTest("Normalize adds to what is there, without weights too", async (device) => {
  const [rows, columns] = [2, 40];
  const values = randomFloats(rows * columns, 1);
  const before = randomFloats(rows * columns, 2);
  const y: FloatRows = uploadRows(device, before, columns);
  const norm = { kind: "rms", epsilon: EPSILON } as const;
  const x = uploadRows(device, values, columns);
  submit(device, (pass) => {
    device.norm(x, y, norm, { accumulate: true }).encode(pass, rows);
  });
  const normed = normReference(values, columns, norm);
  const expected = normed.map((value, i) => value + before[i]);
  await assertRows(
    device,
    y,
    expected,
    (i) => (columns / 4 + 8) * ULP * (Math.abs(normed[i]) + Math.abs(before[i])),
  );
});
