// A product with a fused norm, and the product that reads it and finishes it, held against
// plain loops: what fused_norm_test.ts and the profiles run.

import { assert, assertEquals } from "@std/assert";
import { GROUP, linearReference, quantizedRows } from "../../kernels/mod.ts";
import {
  Linear,
  mostFusedNormRows,
  Normalize,
  Quantize,
  setAffine,
  type WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { readFloats, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertClose, readGroups, ULP, uploadRows } from "./close.ts";
import { activations, productUlps, swiglu } from "./product.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

/** A product whose sum is normed. */
export interface FusedNormCase {
  format: string;
  tokens: number;
  /** Columns of the sum. */
  width: number;
  /** Columns of what is added to it. */
  columns: number;
  /** Rows of the first matrix get a scale and a bias. */
  affine?: boolean;
  /** Whether the product that reads the norm is by a pair of matrices. */
  paired?: boolean;
}

const EPSILON = 1e-3;

/** Rows of the matrix that reads the norm, no multiple of a tile. */
const READER_ROWS = 36;

/** Fails unless the sum, its norm, and the product that reads the norm are right. */
export async function assertFusedNorm(device: WebGpuDevice, shape: FusedNormCase): Promise<void> {
  const { tokens, width, columns, paired = false } = shape;
  const format = formatNamed(shape.format);
  const { matrix, weights } = randomMatrix(device, format, { rows: width, columns });
  const scale = shape.affine ? randomFloats(width, 8) : new Float32Array(width).fill(1);
  const bias = shape.affine ? randomFloats(width, 9) : new Float32Array(width);
  if (shape.affine) setAffine(device, matrix, { scale, bias });
  const sides = paired ? 2 : 1;
  const reader = randomMatrix(device, format, { rows: READER_ROWS, columns: width, sides });

  const values = activations(tokens, columns);
  const before = randomFloats(tokens * width, 10);
  if (tokens > 1) { // a row of zeros stays zero
    values.fill(0, columns, 2 * columns);
    before.fill(0, width, 2 * width);
  }
  const floats = uploadRows(device, values, columns);
  const x = quantizedRows(device, "x", tokens, columns);
  const y = uploadRows(device, before, width);
  const weight = randomFloats(width, 11);
  const norm = {
    kind: "rms" as const,
    epsilon: EPSILON,
    weight: uploadRows(device, weight, width).floats,
  };
  const groups = quantizedRows(device, "normed", tokens, width, { deferredEpsilon: EPSILON });
  const result = uploadRows(device, new Float32Array(tokens * READER_ROWS).fill(9), READER_ROWS);
  const product = new Linear(device, matrix, x, y, {
    accumulate: true,
    norm: { norm, y: groups },
  });
  const reading = new Linear(device, reader.matrix, groups, result);
  const isFused = tokens <= mostFusedNormRows(matrix);
  submit(device, (pass) => {
    new Quantize(device, floats, x).encode(pass, tokens);
    product.encode(pass, tokens);
    if (!isFused) new Normalize(device, y, groups, norm).encode(pass, tokens);
    reading.encode(pass, tokens);
  });

  // The sum.
  const plain = linearReference(weights, values, { rows: width, columns, tokens });
  const sums = linearReference(weights.map(Math.abs), values.map(Math.abs), {
    rows: width,
    columns,
    tokens,
  });
  const zeros = (i: number) => tokens > 1 && Math.floor(i / width) === 1;
  const expected = before.map((value, i) => value + plain[i] * scale[i % width] + bias[i % width]);
  const ulps = productUlps(format, columns);
  const sum = await readFloats(device, y.floats, tokens * width);
  assertClose(
    sum,
    expected,
    (i) => ULP * (ulps * sums[i] * Math.abs(scale[i % width]) + 4 * Math.abs(expected[i]) + 1),
  );

  // Its norm: int8 codes of the sum times the weights, with the sum of squares, or whole.
  const normed = new Float32Array(tokens * width);
  const all = await readGroups(device, groups, tokens * width / GROUP);
  for (let token = 0; token < tokens; token++) {
    const row = sum.subarray(token * width, (token + 1) * width);
    const squares = row.reduce((sum, value) => sum + value * value, 0);
    const factor = 1 / Math.sqrt(squares / width + EPSILON);
    let told = 0;
    for (let at = 0; at < width; at += GROUP) {
      const { codes, scales } = all[(token * width + at) / GROUP];
      told += scales[3];
      const own = Array.from(codes, (code) => code * scales[0]);
      const wanted = own.map((_, i) => row[at + i] * weight[at + i] * (isFused ? 1 : factor));
      assertClose(own, wanted, (i) => scales[0] * 0.51 + (width + 16) * ULP * Math.abs(wanted[i]));
      normed.set(own.map((value) => value * (isFused ? factor : 1)), token * width + at);
    }
    assertClose([told], [isFused ? squares : 0], () => width * ULP * squares);
  }

  // The product that reads it.
  const rows = sides * READER_ROWS;
  const options = { rows, columns: width, tokens };
  const magnitudes = linearReference(reader.weights.map(Math.abs), normed.map(Math.abs), options);
  const read = {
    values: linearReference(reader.weights, normed, options),
    errors: magnitudes.map((sum) => ULP * (productUlps(format, width) + width + 16) * sum),
  };
  const last = paired ? swiglu(read, READER_ROWS) : read;
  const { stride } = result;
  const actual = await readFloats(device, result.floats, tokens * stride);
  assertClose(
    last.values.map((_, i) => actual[Math.floor(i / READER_ROWS) * stride + i % READER_ROWS]),
    last.values,
    (i) => last.errors[i] + 1e-30,
  );
  assertEquals(sum.some((value, i) => zeros(i) && !shape.affine && value !== 0), false);
  assert(actual.every(Number.isFinite));
}
