// Products by the experts of each pair against plain loops: pairs as they come and in planned tiles,
// both kinds of activations, every way of writing the result, and experts spread over parts.

import { assertEquals, assertThrows } from "@std/assert";
import {
  allocateMatrix,
  allocateRouting,
  Device,
  ExpertLinear,
  type ExpertLinearOptions,
  expertLinearReference,
  ExpertPlan,
  floatRows,
  GpuError,
  isQuantized,
  Quantize,
  quantizedRows,
  setAffine,
} from "../../kernels/mod.ts";
import { gpuTest, randomFloats, submit, write } from "../gpu.ts";
import { assertRows, outputRows, ULP, uploadRows, writeRows } from "./close.ts";
import { activations, productUlps, swiglu } from "./product.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

interface Case {
  format: string;
  /** Of one expert. */
  rows: number;
  columns: number;
  tokens: number;
  experts: number;
  choices: number;
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
  tile?: ExpertLinearOptions["tile"];
}

/** The narrowest variant: one row and one pair per invocation. */
const NARROW = { cols: 1, tile: { rows: 1, cols: 1, lanes: 1, workgroup: 8 } };

/** Fails unless the products on the GPU are the reference's. */
async function assertExperts(device: Device, shape: Case): Promise<void> {
  const { rows, columns, tokens, experts, choices, quantized = false } = shape;
  const format = formatNamed(shape.format);
  const sides = shape.paired ? 2 : 1;
  const size = { rows: experts * rows, columns, sides, unit: rows } as const;
  const { matrix, weights } = randomMatrix(device, format, size);
  if (shape.parts) assertEquals(matrix.parts.length, shape.parts);
  const all = sides * experts * rows;
  const scale = shape.affine ? randomFloats(all, 8) : new Float32Array(all).fill(1);
  const bias = shape.affine ? randomFloats(all, 9) : new Float32Array(all);
  if (shape.affine) setAffine(device, matrix, { scale, bias });

  const pairs = tokens * choices;
  const random = randomFloats(pairs, pairs + experts);
  const ids = Uint32Array.from(random, (value) => Math.floor(Math.abs(value) * 977) % experts);
  const routing = allocateRouting(device, tokens, { experts, choices });
  write(device, routing.ids, ids);
  write(device, routing.count, Uint32Array.of(pairs));
  const plan = new ExpertPlan(device, routing, tokens, shape.cols ? { cols: shape.cols } : {});

  const share = shape.perPair ? 1 : choices;
  const values = activations(pairs / share, columns);
  const floats = uploadRows(device, values, columns);
  const x = shape.integer ? quantizedRows(device, "x", pairs / share, columns) : floats;
  const y = outputRows(device, pairs, rows, quantized);
  if (!isQuantized(y)) writeRows(device, y, randomFloats(pairs * rows, 10));
  const options = { share, ...(shape.tile ? { tile: shape.tile } : {}) };
  const experted = new ExpertLinear(device, matrix, plan, x, y, options);
  submit(device, (pass) => {
    if (isQuantized(x)) new Quantize(device, floats, x).encode(pass, pairs / share);
    plan.encode(pass, tokens);
    experted.encode(pass, tokens);
  });

  const product = new Float32Array(pairs * sides * rows); // [pairs, sides, rows]
  const errors = new Float32Array(product.length);
  const ulps = productUlps(format, columns);
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

gpuTest("ExpertLinear multiplies pairs as they come", async (device) => {
  const shape = { ...NARROW, format: "F16", rows: 19, columns: 45 };
  await assertExperts(device, { ...shape, tokens: 1, experts: 128, choices: 8 });
  await assertExperts(device, { ...shape, tokens: 5, experts: 60, choices: 3 });
  await assertExperts(device, { ...shape, tokens: 33, experts: 6, choices: 2, perPair: true });
  await assertExperts(device, { ...shape, tokens: 5, experts: 2, choices: 1 });
});

gpuTest("ExpertLinear chooses tiles for 1, 5 and 33 tokens", async (device) => {
  const integer = device.capabilities.packedDot;
  const shape = { format: "Q8_0", rows: 37, columns: 96, choices: 2, integer };
  await assertExperts(device, { ...shape, tokens: 1, experts: 6 });
  await assertExperts(device, { ...shape, tokens: 5, experts: 2, perPair: true });
  await assertExperts(device, { ...shape, tokens: 33, experts: 6 });
});

gpuTest("ExpertLinear multiplies Q4_K experts, scaled and biased", async (device) => {
  const shape = { format: "Q4_K", rows: 19, columns: 256, tokens: 5, experts: 6, choices: 4 };
  const integer = device.capabilities.packedDot;
  const tile = { rows: 1, cols: 2, lanes: 1, workgroup: 8 };
  await assertExperts(device, { ...shape, ...NARROW, affine: true });
  await assertExperts(device, { ...shape, cols: 2, tile, affine: true, integer });
});

gpuTest("ExpertLinear gates paired experts into int8 groups", async (device) => {
  const integer = device.capabilities.packedDot;
  const shape = { format: "Q4_0", columns: 96, tokens: 5, experts: 6, choices: 4, integer };
  const gated = { ...shape, paired: true, quantized: true, affine: true };
  const tile = { rows: 2, cols: 1, lanes: 1, workgroup: 16 };
  for (const rows of [36, 70]) await assertExperts(device, { ...gated, rows, cols: 1, tile });
  const shared = { rows: 4, cols: 2, lanes: 4, workgroup: 32 };
  for (const rows of [36, 70]) {
    await assertExperts(device, { ...gated, rows, cols: 2, tile: shared });
  }
});

// On one device: its variants are those of the staged Linear, tested on all, with another table.
Deno.test("ExpertLinear stages tiles of 64 rows and 64 pairs", async () => {
  using device = await Device.open();
  const tile = "staged" as const;
  const shape = { rows: 70, tokens: 67, experts: 3, choices: 2, cols: 64, tile };
  await device.scoped("multiply", async () => {
    await assertExperts(device, { ...shape, format: "F16", columns: 45, affine: true });
    const integer = device.capabilities.packedDot;
    const gated = { ...shape, format: "Q4_0", columns: 96, integer };
    await assertExperts(device, { ...gated, paired: true, quantized: true, perPair: true });
  });
});

Deno.test("ExpertLinear multiplies experts that are spread over parts", async () => {
  // Two experts of 20 rows of three Q4_0 blocks, or, paired, one.
  using device = await Device.open({ maxBindingSize: 49 * 3 * 16 });
  const shape = { format: "Q4_0", rows: 20, columns: 96, tokens: 5, experts: 6, choices: 4 };
  await device.scoped("multiply", async () => {
    await assertExperts(device, { ...shape, ...NARROW, affine: true, parts: 3 });
    const tile = { rows: 1, cols: 2, lanes: 1, workgroup: 8 };
    await assertExperts(device, { ...shape, cols: 2, tile, affine: true, parts: 3 });
    const paired = { rows: 2, cols: 1, lanes: 1, workgroup: 16 };
    const gated = { ...shape, cols: 1, tile: paired, paired: true, quantized: true };
    await assertExperts(device, { ...gated, parts: 6 });
    // Experts of seven rows of three blocks do not end on a word: two stay together.
    await assertExperts(device, { ...shape, ...NARROW, rows: 7, experts: 14, parts: 3 });
  });
});

Deno.test("ExpertLinear refuses parts that end within an expert", async () => {
  using device = await Device.open({ maxBindingSize: 49 * 3 * 16 });
  const format = formatNamed("Q4_0");
  const matrix = allocateMatrix(device, "w", format, { rows: 120, columns: 96 });
  const plan = new ExpertPlan(device, allocateRouting(device, 1, { experts: 6, choices: 1 }), 1);
  const x = floatRows(device, "x", 1, 96);
  const y = floatRows(device, "y", 1, 20);
  const create = () => new ExpertLinear(device, matrix, plan, x, y, { share: 1 });
  assertThrows(create, GpuError, "a part has 32 rows, an expert 20");
});
