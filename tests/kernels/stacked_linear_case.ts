// Products of one input by several matrices held against plain loops: what stacked_linear_test.ts and
// the profiles run.

import {
  type Activation,
  type Device,
  floatRows,
  GROUP,
  isQuantized,
  linearReference,
  quantizedRows,
} from "../../kernels/mod.ts";
import { randomFloats } from "../numbers.ts";
import { readFloats, submit } from "../gpu.ts";
import { assertRows, outputRows, readGroups, ULP, uploadRows, writeRows } from "./close.ts";
import { activations, productUlps } from "./product.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

/** Stacked products to be tried. */
export interface StackedCase {
  /** Format and rows of each matrix. */
  matrices: readonly (readonly [format: string, rows: number])[];
  columns: number;
  tokens: number;
  /** Int8 activations. */
  integer?: boolean;
  /** Whether x is that of a norm that these products have to finish. */
  normed?: boolean;
  accumulate?: boolean;
  /** Rows of all matrices but the last get scales and biases. */
  affine?: boolean;
  /** Columns of y that are left out before each matrix. */
  gap?: number;
}

const EPSILON = 1e-3;

/** Fails unless the products are the reference's. */
export async function assertStacked(device: Device, shape: StackedCase): Promise<void> {
  const { columns, tokens, integer = false, accumulate = false, affine = false, gap = 0 } = shape;
  let width = 0;
  const parts = shape.matrices.map(([name, rows], i) => {
    const format = formatNamed(name);
    const { matrix, weights } = randomMatrix(device, format, { rows, columns });
    const isScaled = affine && (i === 0 || i < shape.matrices.length - 1);
    const scale = isScaled ? randomFloats(rows, 8 + i) : new Float32Array(rows).fill(1);
    const bias = isScaled ? randomFloats(rows, 20 + i) : new Float32Array(rows);
    if (isScaled) device.setAffine(matrix, { scale, bias });
    const first = width + gap;
    width = first + rows;
    return { matrix, first, weights, scale, bias, ulps: productUlps(format, columns) };
  });

  const exact = activations(tokens, columns);
  const floats = uploadRows(device, exact, columns);
  const groups = quantizedRows(device, "x", tokens, columns);
  const normed = shape.normed ? await fusedNorm(device, tokens, columns, integer) : undefined;
  const x = normed?.rows ?? (integer ? groups : floats);
  const values = normed?.values ?? exact;
  const y = outputRows(device, tokens, width, false);
  if (!("floats" in y)) return;
  const before = randomFloats(tokens * width, 10);
  writeRows(device, y, before);
  const product = device.stackedLinear(parts, x, y, { accumulate });
  const quantize = device.quantize(floats, groups);
  submit(device, (pass) => {
    quantize.encode(pass, tokens);
    product.encode(pass, tokens);
  });

  const expected = before.slice();
  const tolerance = new Float64Array(expected.length);
  for (const { matrix: { rows }, first, weights, scale, bias, ulps } of parts) {
    const options = { rows, columns, tokens };
    const plain = linearReference(weights, values, options);
    const sums = linearReference(weights.map(Math.abs), values.map(Math.abs), options);
    for (let i = 0; i < plain.length; i++) {
      const [token, row] = [Math.floor(i / rows), i % rows];
      const at = token * width + first + row;
      const product = plain[i] * scale[row] + bias[row];
      expected[at] = product + (accumulate ? expected[at] : 0);
      const terms = (ulps + (normed ? columns + 16 : 0)) * sums[i] * Math.abs(scale[row]);
      tolerance[at] = ULP * (terms + 2 * Math.abs(product) + Math.abs(expected[at]));
    }
  }
  await assertRows(device, y, expected, (i) => tolerance[i]);
}

/** The norm of a product, as far as the product makes it, and the values that it stands for. */
async function fusedNorm(
  device: Device,
  tokens: number,
  width: number,
  integer: boolean,
): Promise<{ rows: Activation; values: Float32Array }> {
  const { matrix } = randomMatrix(device, formatNamed("Q8_0"), { rows: width, columns: 64 });
  const floats = uploadRows(device, activations(tokens, 64), 64);
  const groups = quantizedRows(device, "x", tokens, 64);
  const x = integer ? groups : floats;
  const y = uploadRows(device, randomFloats(tokens * width, 11), width);
  const weight = uploadRows(device, randomFloats(width, 12), width).floats;
  const norm = { kind: "rms", epsilon: EPSILON, weight } as const;
  const rows = (integer ? quantizedRows : floatRows)(device, "normed", tokens, width, {
    deferredEpsilon: EPSILON,
  });
  const options = { accumulate: true, norm: { norm, y: rows } };
  const isFused = tokens <= device.mostFusedNormRows(matrix);
  const operations = [
    device.quantize(floats, groups),
    device.linear(matrix, x, y, isFused ? options : { accumulate: true }),
    ...(isFused ? [] : [device.norm(y, rows, norm)]),
  ];
  submit(device, (pass) => {
    for (const operation of operations) operation.encode(pass, tokens);
  });
  const written = await valuesOf(device, rows, tokens);
  const sums = await readFloats(device, y.floats, tokens * width);
  const values = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token++) {
    const row = sums.subarray(token * width, (token + 1) * width);
    const squares = row.reduce((sum, value) => sum + value * value, 0);
    const factor = isFused ? 1 / Math.sqrt(squares / width + EPSILON) : 1;
    for (let i = 0; i < width; i++) values[token * width + i] = written[token * width + i] * factor;
  }
  return { rows, values };
}

/** Values of rows without padding. */
async function valuesOf(device: Device, rows: Activation, count: number): Promise<Float32Array> {
  const values = count * rows.columns;
  if (!isQuantized(rows)) return await readFloats(device, rows.floats, values);
  const groups = await readGroups(device, rows, values / GROUP);
  return Float32Array.from({ length: values }, (_, at) => {
    const { codes, scales } = groups[Math.floor(at / GROUP)];
    return codes[at % GROUP] * scales[0];
  });
}
