// A product with a fused norm, and the product that reads it and finishes it, held against
// plain loops: what fused_norm_test.ts and the profiles run.

import { assert, assertEquals } from "@std/assert";
import {
  type Activation,
  allocateRouting,
  expertLinearReference,
  type FloatRows,
  floatRows,
  GROUP,
  isQuantized,
  linearReference,
  padTo,
  type QuantizedRows,
  quantizedRows,
  ROW_PADDING,
  squareQuads,
} from "../../kernels/mod.ts";
import {
  ExpertLinear,
  GpuExpertPairs,
  Linear,
  mostFusedNormRows,
  rowBinders,
  setAffine,
  type WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { readFloats, submit, write } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertClose, readGroups, ULP, uploadRows } from "./close.ts";
import { activations, productUlps, swiglu } from "./product.ts";
import { KINDS } from "./product_profiles.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

/** A product whose sum is normed. */
export interface FusedNormCase {
  format: string;
  /** Whether it reads int8 groups. */
  integer: boolean;
  /** Whether what is normed is int8 groups. Default: as what it reads. */
  quantized?: boolean;
  tokens: number;
  /** Columns of the sum. */
  width: number;
  /** Columns of what is added to it. */
  columns: number;
  /** Rows of the first matrix get a scale and a bias. */
  affine?: boolean;
  /** Whether the product that reads the norm is by a pair of matrices. */
  paired?: boolean;
  /** Whether it is by two experts, both of which every row has. */
  experts?: boolean;
  /** Whether it reads int8 groups that are made of the f32 rows. */
  converted?: boolean;
}

/** Every kind of format, with what products by it read. */
export function fusedNormKinds(): Pick<FusedNormCase, "format" | "integer">[] {
  return KINDS.flatMap((format) =>
    (formatNamed(format).kind === "integer" ? [true, false] : [false])
      .map((integer) => ({ format, integer }))
  );
}

const EPSILON = 1e-3;

/** Rows of the matrix that reads the norm, no multiple of a tile. */
const READER_ROWS = 36;

/** Fails unless the sum, its norm, and the product that reads the norm are right. */
export async function assertFusedNorm(device: WebGpuDevice, shape: FusedNormCase): Promise<void> {
  const { tokens, width, columns, paired = false, integer, quantized = integer } = shape;
  const experts = shape.experts ? 2 : 1;
  const format = formatNamed(shape.format);
  const { matrix, weights } = randomMatrix(device, format, { rows: width, columns });
  const scale = shape.affine ? randomFloats(width, 8) : new Float32Array(width).fill(1);
  const bias = shape.affine ? randomFloats(width, 9) : new Float32Array(width);
  if (shape.affine) setAffine(device, matrix, { scale, bias });
  const sides = paired ? 2 : 1;
  const reader = randomMatrix(device, format, {
    rows: experts * READER_ROWS,
    columns: width,
    sides,
    unit: READER_ROWS,
  });

  const values = activations(tokens, columns);
  const before = randomFloats(tokens * width, 10);
  if (tokens > 1) { // a row of zeros stays zero
    values.fill(0, columns, 2 * columns);
    before.fill(0, width, 2 * width);
  }
  const floats = uploadRows(device, values, columns);
  const x = integer ? quantizedRows(device, "x", tokens, columns) : floats;
  const y = uploadRows(device, before, width);
  const weight = randomFloats(width, 11);
  const norm = {
    kind: "rms" as const,
    epsilon: EPSILON,
    weight: uploadRows(device, weight, width).floats,
  };
  const allocate = quantized ? quantizedRows : floatRows;
  const normed = allocate(device, "normed", tokens, width, { deferredEpsilon: EPSILON });
  if (!isQuantized(normed)) writeStale(device, normed, padTo(tokens, ROW_PADDING));
  const options = { deferredEpsilon: EPSILON };
  const read = shape.converted ? quantizedRows(device, "read", tokens, width, options) : normed;
  const ids = Uint32Array.from(
    { length: tokens * experts },
    (_, i) => (i + Math.floor(i / experts)) % experts,
  );
  const stale = new Float32Array(ids.length * READER_ROWS).fill(9);
  const result = uploadRows(device, stale, READER_ROWS);
  const product = new Linear(device, matrix, x, y, {
    accumulate: true,
    norm: { norm, y: normed },
  });
  const chosen = pairsOf(device, ids, tokens, experts);
  const reading = shape.experts
    ? new ExpertLinear(device, reader.matrix, chosen, read, result, { share: experts })
    : new Linear(device, reader.matrix, read, result);
  const isFused = tokens <= mostFusedNormRows(matrix);
  submit(device, (pass) => {
    if (isQuantized(x)) rowBinders.quantize(device, floats, x).encode(pass, tokens);
    product.encode(pass, tokens);
    if (!isFused) rowBinders.norm(device, y, normed, norm).encode(pass, tokens);
    if (read !== normed) {
      rowBinders.quantize(device, normed as FloatRows, read as QuantizedRows).encode(pass, tokens);
    }
    chosen.encode(pass, tokens);
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
  const sum = await readRows(device, y, tokens);
  assertClose(
    sum,
    expected,
    (i) => ULP * (ulps * sums[i] * Math.abs(scale[i % width]) + 4 * Math.abs(expected[i]) + 1),
  );

  // Its norm: the sum times the weights, with the sum of squares, or whole.
  const { values: known, steps, squares: told } = await readNormed(device, read, tokens);
  const finished = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token++) {
    const row = sum.subarray(token * width, (token + 1) * width);
    const squares = row.reduce((sum, value) => sum + value * value, 0);
    const factor = 1 / Math.sqrt(squares / width + EPSILON);
    const own = known.subarray(token * width, (token + 1) * width);
    const wanted = row.map((value, i) => value * weight[i] * (isFused ? 1 : factor));
    assertClose(
      own,
      wanted,
      (i) => steps[token * width + i] * 0.51 + (width + 16) * ULP * Math.abs(wanted[i]),
    );
    finished.set(own.map((value) => value * (isFused ? factor : 1)), token * width);
    assertClose([told[token]], [isFused ? squares : 0], () => width * ULP * squares);
  }

  // The product that reads it.
  const multiply = (w: Float32Array, x: Float32Array) =>
    shape.experts
      ? expertLinearReference(w, x, ids, { rows: READER_ROWS, columns: width, share: experts })
      : linearReference(w, x, { rows: sides * READER_ROWS, columns: width, tokens });
  const magnitudes = multiply(reader.weights.map(Math.abs), finished.map(Math.abs));
  const products = {
    values: multiply(reader.weights, finished),
    errors: magnitudes.map((sum) => ULP * (productUlps(format, width) + width + 16) * sum),
  };
  const last = paired ? swiglu(products, READER_ROWS) : products;
  const actual = await readRows(device, result, ids.length);
  assertClose(actual, last.values, (i) => last.errors[i] + 1e-30);
  assertEquals(sum.some((value, i) => zeros(i) && !shape.affine && value !== 0), false);
  assert(actual.every(Number.isFinite));
}

/** The pairs of rows and their experts. */
function pairsOf(
  device: WebGpuDevice,
  ids: Uint32Array,
  tokens: number,
  experts: number,
): GpuExpertPairs {
  const routing = allocateRouting(device, tokens, { experts, topK: experts });
  write(device, routing.ids, ids);
  write(device, routing.count, Uint32Array.of(ids.length));
  return new GpuExpertPairs(device, routing, tokens);
}

/** Rows of what is normed, the step between neighbouring values of each, and each row's sum of squares. */
async function readNormed(device: WebGpuDevice, rows: Activation, count: number) {
  const { columns } = rows;
  const squares = new Float32Array(count);
  if (!isQuantized(rows)) {
    const { squares: first = 0 } = rows;
    const each = 4 * squareQuads(columns);
    const all = await readFloats(device, rows.floats, first + count * each);
    all.slice(first).forEach((value, i) => squares[Math.floor(i / each)] += value);
    const values = await readRows(device, rows, count);
    return { values, steps: new Float32Array(values.length), squares };
  }
  const groups = await readGroups(device, rows, count * columns / GROUP);
  groups.forEach(({ scales }, i) => squares[Math.floor(i * GROUP / columns)] += scales[3]);
  return {
    values: Float32Array.from(
      groups.flatMap(({ codes, scales }) => Array.from(codes, (code) => code * scales[0])),
    ),
    steps: Float32Array.from(groups.flatMap(({ scales }) => Array(GROUP).fill(scales[0]))),
    squares,
  };
}

/** Rows without their padding: [count, columns]. */
async function readRows(
  device: WebGpuDevice,
  { floats, columns, stride }: FloatRows,
  count: number,
): Promise<Float32Array> {
  const all = await readFloats(device, floats, count * stride);
  return all.filter((_, i) => i % stride < columns);
}

/** Writes what an earlier step may have left in rows and in their sums. The sums' padding stays zero. */
function writeStale(device: WebGpuDevice, rows: FloatRows, count: number): void {
  const { columns, floats, squares = 0 } = rows;
  const each = 4 * squareQuads(columns);
  const isPadding = (i: number) => i >= squares && (i - squares) % each >= columns / GROUP;
  write(
    device,
    floats,
    Float32Array.from({ length: squares + count * each }, (_, i) => isPadding(i) ? 0 : 9),
  );
}
