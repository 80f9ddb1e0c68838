// Products by the experts of each pair on the GPU held against plain loops: what experts_test.ts and
// profiles_test.ts run.

import { assertEquals } from "@std/assert";
import {
  allocateRouting,
  expertLinearReference,
  isQuantized,
  padTo,
  quantizedRows,
  ROW_PADDING,
} from "../../kernels/mod.ts";
import {
  ExpertLinear,
  type GpuExpertOptions,
  GpuExpertPairs,
  rowBinders,
  setAffine,
  type WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { submit, write } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, ULP, uploadRows, writeRows } from "./close.ts";
import { activations, productUlps, swiglu } from "./product.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

/** Products to be tried. */
export interface Case {
  format: string;
  /** Of one expert. */
  rows: number;
  columns: number;
  tokens: number;
  experts: number;
  /** Experts of a token; not read with `every`. */
  topK: number;
  /** Whether x has a row per pair, not one per token. */
  perPair?: boolean;
  integer?: boolean;
  quantized?: boolean;
  paired?: boolean;
  affine?: boolean;
  /** Parts that the device shall split the matrix in. */
  parts?: number;
  /** Pairs in a tile; default what the device chooses. */
  cols?: number;
  /** Whether each token has every expert, in order. */
  every?: boolean;
  tile?: GpuExpertOptions["tile"];
  /** Error of each term of a sum, as a share of it, where the kernel rounds its operands. */
  rounding?: number;
}

/** Fails unless the products on the GPU are the reference's. */
export async function assertExperts(device: WebGpuDevice, shape: Case): Promise<void> {
  const { rows, columns, tokens, experts, every = false, quantized = false } = shape;
  const topK = every ? experts : shape.topK;
  const format = formatNamed(shape.format);
  const sides = shape.paired ? 2 : 1;
  const size = { rows: experts * rows, columns, sides, unit: rows } as const;
  const { matrix, weights } = randomMatrix(device, format, size);
  if (shape.parts) assertEquals(matrix.parts.length, shape.parts);
  const all = sides * experts * rows;
  const scale = shape.affine ? randomFloats(all, 8) : new Float32Array(all).fill(1);
  const bias = shape.affine ? randomFloats(all, 9) : new Float32Array(all);
  if (shape.affine) setAffine(device, matrix, { scale, bias });

  const pairs = tokens * topK;
  const random = randomFloats(pairs, pairs + experts);
  const ids = Uint32Array.from(
    random,
    (value, pair) => every ? pair % experts : Math.floor(Math.abs(value) * 977) % experts,
  );
  const routing = allocateRouting(device, tokens, { experts, topK });
  write(device, routing.ids, ids);
  write(device, routing.count, Uint32Array.of(pairs));
  const chosen = new GpuExpertPairs(device, routing, tokens, {
    every,
    ...(shape.cols ? { cols: shape.cols } : {}),
  });

  const share = shape.perPair ? 1 : topK;
  const values = activations(pairs / share, columns);
  const floats = uploadRows(device, values, columns);
  const x = shape.integer ? quantizedRows(device, "x", pairs / share, columns) : floats;
  // Tokens, not pairs, are padded where each has every expert.
  const most = every ? padTo(tokens, ROW_PADDING) * experts : pairs;
  const y = outputRows(device, most, rows, quantized);
  if (!isQuantized(y)) writeRows(device, y, randomFloats(pairs * rows, 10));
  const options = { share, ...(shape.tile ? { tile: shape.tile } : {}) };
  const experted = new ExpertLinear(device, matrix, chosen, x, y, options);
  submit(device, (pass) => {
    if (isQuantized(x)) rowBinders.quantize(device, floats, x).encode(pass, pairs / share);
    chosen.encode(pass, tokens);
    experted.encode(pass, tokens);
  });

  const product = new Float32Array(pairs * sides * rows); // [pairs, sides, rows]
  const errors = new Float32Array(product.length);
  const ulps = productUlps(format, columns) + (shape.rounding ?? 0) / ULP;
  for (let side = 0; side < sides; side++) {
    const first = side * experts * rows;
    const w = weights.subarray(first * columns, (first + experts * rows) * columns);
    const options = { rows, columns, share };
    const plain = expertLinearReference(w, values, ids, options);
    const sums = expertLinearReference(w.map(Math.abs), values.map(Math.abs), ids, options);
    plain.forEach((value, i) => {
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
