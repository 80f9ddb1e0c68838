// Products of the CPU device as models ask for them, against plain loops: factors and biases, sums
// with what is there, gates, int8 results, and the experts of pairs; by one thread and by several.

import {
  type Activation,
  type Device,
  expertLinearReference,
  isQuantized,
  linearReference,
  type Matrix,
  quantizedRows,
} from "../../../kernels/mod.ts";
import { cpuTest, submit, write } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { assertRows, outputRows, ULP, uploadRows, writeRows } from "../close.ts";
import { activations, productUlps, swiglu } from "../product.ts";
import { formatNamed, randomWeights } from "../weights.ts";

interface Shape {
  format: string;
  rows: number;
  columns: number;
  tokens: number;
  integer?: boolean;
  quantized?: boolean;
  paired?: boolean;
  affine?: boolean;
  first?: number;
  accumulate?: boolean;
}

/** A matrix of random weights, and those weights. */
function randomMatrix(
  device: Device,
  shape: Shape,
  experts?: number,
): { matrix: Matrix; weights: Float32Array; scale: Float32Array; bias: Float32Array } {
  const format = formatNamed(shape.format);
  const sides = shape.paired ? 2 : 1;
  const rows = shape.rows * (experts ?? 1);
  const unit = experts === undefined ? {} : { unit: shape.rows };
  const matrix = device.matrix("w", format, { rows, columns: shape.columns, sides, ...unit });
  const blocks = rows * shape.columns / format.blockSize;
  const bytes = randomWeights(format, sides * blocks);
  for (let side = 0; side < sides; side++) {
    const size = blocks * format.blockBytes;
    const writer = device.matrixWriter(matrix, side as 0 | 1);
    writer.append(bytes.subarray(side * size, (side + 1) * size));
    writer.finish();
  }
  const all = sides * rows;
  const scale = shape.affine ? randomFloats(all, 8) : new Float32Array(all).fill(1);
  const bias = shape.affine ? randomFloats(all, 9) : new Float32Array(all);
  if (shape.affine) device.setAffine(matrix, { scale, bias });
  return { matrix, weights: format.dequantize(bytes, sides * blocks), scale, bias };
}

/** Random rows as floats and, where int8 is asked for, in groups. */
function randomInput(device: Device, { columns, integer }: Shape, rows: number) {
  const values = activations(rows, columns);
  const floats = uploadRows(device, values, columns);
  const x: Activation = integer ? quantizedRows(device, "x", rows, columns) : floats;
  const quantize = isQuantized(x) ? [device.quantize(floats, x)] : [];
  return { values, x, quantize };
}

async function assertLinear(device: Device, shape: Shape): Promise<void> {
  const { rows, columns, tokens, first = 0, accumulate = false, quantized = false } = shape;
  const { matrix, weights, scale, bias } = randomMatrix(device, shape);
  const { values, x, quantize } = randomInput(device, shape, tokens);
  const width = first + rows + (first ? 3 : 0); // columns to the right are not written
  const y = outputRows(device, tokens, width, quantized);
  const before = randomFloats(tokens * width, 10);
  if (!isQuantized(y)) writeRows(device, y, before);
  const linear = device.linear(matrix, x, y, { first, accumulate });
  submit(device, (pass) => {
    for (const operation of [...quantize, linear]) operation.encode(pass, tokens);
  });
  const all = scale.length;
  const sizes = { rows: all, columns, tokens };
  const sums = linearReference(weights.map(Math.abs), values.map(Math.abs), sizes);
  const plain = linearReference(weights, values, sizes).map((value, i) =>
    value * scale[i % all] + bias[i % all]
  );
  const ulps = productUlps(formatNamed(shape.format), columns);
  const errors = sums.map((sum, i) =>
    ULP * (ulps * sum * Math.abs(scale[i % all]) + 2 * Math.abs(plain[i]))
  );
  const product = { values: plain, errors };
  const result = shape.paired ? swiglu(product, rows) : product;
  const expected = quantized ? new Float32Array(before.length) : before.slice();
  const tolerance = new Float64Array(expected.length);
  result.values.forEach((value, i) => {
    const at = Math.floor(i / rows) * width + first + i % rows;
    expected[at] = value + (accumulate ? expected[at] : 0);
    tolerance[at] = result.errors[i] + ULP * Math.abs(expected[at]);
  });
  await assertRows(device, y, expected, (i) => tolerance[i]);
}

const INT8 = { format: "Q8_0", columns: 96, integer: true };

cpuTest("linear() gives rows factors and biases, and adds to what is there", async (device) => {
  for (const rows of [8, 21]) {
    for (const tokens of [1, 3, 33]) {
      const shape = { ...INT8, rows, tokens };
      await assertLinear(device, shape);
      await assertLinear(device, { ...shape, affine: true });
      await assertLinear(device, { ...shape, accumulate: true });
      await assertLinear(device, { ...shape, affine: true, accumulate: true });
      await assertLinear(device, { ...shape, affine: true, accumulate: true, first: 5 });
      const floats = { ...shape, format: "F16", columns: 45, integer: false, affine: true };
      await assertLinear(device, { ...floats, accumulate: true, first: 5 });
    }
  }
});

cpuTest("linear() multiplies more tokens than it takes at a time", async (device) => {
  const shape = { rows: 11, tokens: 300, affine: true, accumulate: true };
  await assertLinear(device, { ...shape, ...INT8, columns: 1056 });
  await assertLinear(device, { ...shape, format: "F32", columns: 33 });
});

cpuTest("linear() gates pairs and makes int8 groups", async (device) => {
  for (const rows of [32, 36]) {
    for (const tokens of [1, 9]) {
      const shape = { ...INT8, rows, tokens, affine: true };
      await assertLinear(device, { ...shape, quantized: true });
      await assertLinear(device, { ...shape, paired: true });
      await assertLinear(device, { ...shape, paired: true, quantized: true });
      await assertLinear(device, { ...shape, paired: true, accumulate: true, first: 2 });
    }
  }
});

interface ExpertShape extends Shape {
  experts: number;
  topK: number;
  perPair?: boolean;
  /** Vectors side by side in a row of x. */
  vectors?: number;
}

async function assertExperts(device: Device, shape: ExpertShape): Promise<void> {
  const { rows, columns, tokens, experts, topK, vectors = 1 } = shape;
  const { matrix, weights, scale, bias } = randomMatrix(device, shape, experts);
  const pairs = tokens * topK;
  // A row chooses an expert at most once: those that follow its first one, in no order.
  const random = randomFloats(tokens, pairs + experts);
  const ids = Uint32Array.from({ length: pairs }, (_, pair) => {
    const first = Math.floor(Math.abs(random[Math.floor(pair / topK)]) * 977);
    return (first + pair % topK * 5) % experts;
  });
  const buffer = (label: string) => device.buffer(label, 4 * pairs, "scratch");
  const routing = {
    ...{ experts, topK, ids: buffer("ids"), weights: buffer("weights") },
    count: device.buffer("count", 4, "scratch"),
  };
  write(device, routing.ids, ids);
  write(device, routing.count, Uint32Array.of(pairs));
  const plan = device.expertPairs(routing, tokens);
  const share = shape.perPair ? 1 : topK;
  const wide = { ...shape, columns: columns * vectors };
  const { values, x, quantize } = randomInput(device, wide, pairs / share / vectors);
  const input = { ...x, columns, stride: x.stride / vectors };
  const y = outputRows(device, pairs, rows, shape.quantized ?? false);
  if (!isQuantized(y)) writeRows(device, y, new Float32Array(pairs * rows));
  const linear = device.expertLinear(matrix, plan, input, y, { share, vectors });
  submit(device, (pass) => {
    for (const operation of quantize) operation.encode(pass, pairs / share / vectors);
    plan.encode(pass, tokens);
    linear.encode(pass, tokens);
  });
  const sides = shape.paired ? 2 : 1;
  const product = new Float32Array(pairs * sides * rows); // [pairs, sides, rows]
  const errors = new Float32Array(product.length);
  const ulps = productUlps(formatNamed(shape.format), columns);
  for (let side = 0; side < sides; side++) {
    const first = side * experts * rows;
    const w = weights.subarray(first * columns, (first + experts * rows) * columns);
    const sizes = { rows, columns, share };
    const sums = expertLinearReference(w.map(Math.abs), values.map(Math.abs), ids, sizes);
    expertLinearReference(w, values, ids, sizes).forEach((value, i) => {
      const pair = Math.floor(i / rows);
      const row = first + ids[pair] * rows + i % rows;
      const to = (pair * sides + side) * rows + i % rows;
      product[to] = value * scale[row] + bias[row];
      errors[to] = ULP * (ulps * sums[i] * Math.abs(scale[row]) + 2 * Math.abs(product[to]));
    });
  }
  const plain = { values: product, errors };
  const expected = shape.paired ? swiglu(plain, rows) : plain;
  await assertRows(device, y, expected.values, (i) => expected.errors[i]);
}

cpuTest("expertLinear() multiplies the pairs of each expert together", async (device) => {
  const shape = { ...INT8, rows: 21, experts: 6, topK: 3, affine: true };
  for (const tokens of [1, 5, 33]) {
    await assertExperts(device, { ...shape, tokens });
    await assertExperts(device, { ...shape, tokens, perPair: true });
    await assertExperts(device, { ...shape, tokens, paired: true });
    await assertExperts(device, { ...shape, tokens, paired: true, quantized: true });
  }
  await assertExperts(device, { ...shape, format: "F16", integer: false, tokens: 5 });
  await assertExperts(device, { ...shape, experts: 128, topK: 8, tokens: 2 });
  await assertExperts(device, { ...shape, experts: 1, topK: 1, tokens: 270 });
});

cpuTest("expertLinear() reads vectors that lie side by side", async (device) => {
  const shape = { rows: 10, experts: 4, topK: 4, perPair: true, vectors: 4, tokens: 7 };
  await assertExperts(device, { ...shape, ...INT8 });
  await assertExperts(device, { ...shape, format: "F32", columns: 64 });
});
