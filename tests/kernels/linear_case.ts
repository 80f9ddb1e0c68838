// One product on the GPU held against plain loops: what linear_test.ts and profiles_test.ts run.

import { assertEquals } from "@std/assert";
import { isQuantized, linearReference, quantizedRows } from "../../kernels/mod.ts";
import {
  type GpuLinearOptions,
  Linear,
  rowBinders,
  setAffine,
  type WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, ULP, uploadRows, writeRows } from "./close.ts";
import { activations, productUlps, swiglu } from "./product.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

/** A product to be tried. */
export interface Case {
  format: string;
  rows: number;
  columns: number;
  tokens: number;
  /** Int8 activations. */
  integer?: boolean;
  /** Int8 outputs. */
  quantized?: boolean;
  /** Two matrices, y = silu(gate) * up. */
  paired?: boolean;
  /** Rows get a scale and a bias. */
  affine?: boolean;
  /** Parts that the device shall split the matrix in. */
  parts?: number;
  options?: GpuLinearOptions;
  /** Error of each term of a sum, as a share of it, where the kernel rounds its operands. */
  rounding?: number;
}

/** Fails unless the product on the GPU is the reference's. */
export async function assertLinear(device: WebGpuDevice, shape: Case): Promise<void> {
  const { columns, tokens, quantized = false, paired = false, options = {} } = shape;
  const format = formatNamed(shape.format);
  const sides = paired ? 2 : 1;
  const { matrix, weights } = randomMatrix(device, format, { ...shape, sides });
  if (shape.parts) assertEquals(matrix.parts.length, shape.parts);
  const rows = sides * shape.rows;
  const scale = shape.affine ? randomFloats(rows, 8) : new Float32Array(rows).fill(1);
  const bias = shape.affine ? randomFloats(rows, 9) : new Float32Array(rows);
  if (shape.affine) setAffine(device, matrix, { scale, bias });

  const values = activations(tokens, columns);
  const floats = uploadRows(device, values, columns);
  const x = shape.integer ? quantizedRows(device, "x", tokens, columns) : floats;
  const { first = 0, accumulate = false } = options;
  const width = first + shape.rows + (first ? 3 : 0); // columns to the right are not written
  const y = outputRows(device, tokens, width, quantized);
  const before = randomFloats(tokens * width, 10);
  if (!isQuantized(y)) writeRows(device, y, before);
  submit(device, (pass) => {
    if (isQuantized(x)) rowBinders.quantize(device, floats, x).encode(pass, tokens);
    new Linear(device, matrix, x, y, options).encode(pass, tokens);
  });

  const plain = linearReference(weights, values, { rows, columns, tokens });
  const sums = linearReference(weights.map(Math.abs), values.map(Math.abs), {
    rows,
    columns,
    tokens,
  });
  const ulps = productUlps(format, columns) + (shape.rounding ?? 0) / ULP;
  const product = plain.map((value, i) => value * scale[i % rows] + bias[i % rows]);
  const errors = sums.map((sum, i) =>
    ULP * (ulps * sum * Math.abs(scale[i % rows]) + 2 * Math.abs(product[i]))
  );
  const result = paired
    ? swiglu({ values: product, errors }, shape.rows)
    : { values: product, errors };

  const expected = quantized ? new Float32Array(before.length) : before.slice();
  const tolerance = new Float64Array(expected.length);
  for (let t = 0; t < tokens; t++) {
    for (let n = 0; n < shape.rows; n++) {
      const [from, to] = [t * shape.rows + n, t * width + first + n];
      expected[to] = result.values[from] + (accumulate ? expected[to] : 0);
      tolerance[to] = result.errors[from] + ULP * Math.abs(expected[to]);
    }
  }
  await assertRows(device, y, expected, (i) => tolerance[i]);
}
