// Products by the experts of each pair against plain loops: pairs as they come and in tiles of an expert,
// both kinds of activations, every way of writing the result, and experts spread over parts.

import { assertThrows } from "@std/assert";
import { allocateRouting, floatRows, GpuError } from "../../kernels/mod.ts";
import {
  allocateMatrix,
  ExpertLinear,
  GpuExpertPairs,
  WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { gpuTest } from "../gpu.ts";
import { assertExperts } from "./experts_case.ts";
import { formatNamed } from "./weights.ts";
import { webGpuTest } from "../adapter.ts";

/** The narrowest variant: one row and one pair per invocation. */
const NARROW = { cols: 1, tile: { rows: 1, cols: 1, lanes: 1, workgroup: 8 } };

gpuTest("ExpertLinear multiplies pairs as they come", async (device) => {
  const shape = { ...NARROW, format: "F16", rows: 19, columns: 45 };
  await assertExperts(device, { ...shape, tokens: 1, experts: 128, topK: 8 });
  await assertExperts(device, { ...shape, tokens: 5, experts: 60, topK: 3 });
  await assertExperts(device, { ...shape, tokens: 33, experts: 6, topK: 2, perPair: true });
  await assertExperts(device, { ...shape, tokens: 5, experts: 2, topK: 1 });
});

gpuTest("ExpertLinear chooses tiles for 1, 5 and 33 tokens", async (device) => {
  const integer = device.capabilities.packedDot;
  const shape = { format: "Q8_0", rows: 37, columns: 96, topK: 2, integer };
  await assertExperts(device, { ...shape, tokens: 1, experts: 6 });
  await assertExperts(device, { ...shape, tokens: 5, experts: 2, perPair: true });
  await assertExperts(device, { ...shape, tokens: 33, experts: 6 });
});

gpuTest("ExpertLinear multiplies Q4_K experts, scaled and biased", async (device) => {
  const shape = { format: "Q4_K", rows: 19, columns: 256, tokens: 5, experts: 6, topK: 4 };
  const integer = device.capabilities.packedDot;
  const tile = { rows: 1, cols: 2, lanes: 1, workgroup: 8 };
  await assertExperts(device, { ...shape, ...NARROW, affine: true });
  await assertExperts(device, { ...shape, cols: 2, tile, affine: true, integer });
});

gpuTest("ExpertLinear gates paired experts into int8 groups", async (device) => {
  const integer = device.capabilities.packedDot;
  const shape = { format: "Q4_0", columns: 96, tokens: 5, experts: 6, topK: 4, integer };
  const gated = { ...shape, paired: true, quantized: true, affine: true };
  const tile = { rows: 2, cols: 1, lanes: 1, workgroup: 16 };
  for (const rows of [36, 70]) await assertExperts(device, { ...gated, rows, cols: 1, tile });
  const shared = { rows: 4, cols: 2, lanes: 4, workgroup: 32 };
  for (const rows of [36, 70]) {
    await assertExperts(device, { ...gated, rows, cols: 2, tile: shared });
  }
});

// On one device: its variants are those of the staged Linear, tested on all, with another table.
webGpuTest("ExpertLinear stages tiles of 64 rows and 64 pairs", async () => {
  using device = await WebGpuDevice.open();
  const tile = "staged" as const;
  const shape = { rows: 70, tokens: 67, experts: 3, topK: 2, cols: 64, tile };
  await device.scoped("multiply", async () => {
    await assertExperts(device, { ...shape, format: "F16", columns: 45, affine: true });
    const integer = device.capabilities.packedDot;
    const gated = { ...shape, format: "Q4_0", columns: 96, integer };
    await assertExperts(device, { ...gated, paired: true, quantized: true, perPair: true });
  });
});

webGpuTest("ExpertLinear multiplies experts that are spread over parts", async () => {
  // Two experts of 20 rows of three Q4_0 blocks, or, paired, one.
  using device = await WebGpuDevice.open({ maxBindingSize: 49 * 3 * 16 });
  const shape = { format: "Q4_0", rows: 20, columns: 96, tokens: 5, experts: 6, topK: 4 };
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

gpuTest(
  "ExpertLinear multiplies every expert's rows of tokens that have all of them",
  async (device) => {
    const integer = device.capabilities.packedDot;
    const shape = { every: true, topK: 0, perPair: true, experts: 3, rows: 19, columns: 96 };
    const wide = { rows: 1, cols: 4, lanes: 1, workgroup: 8 };
    for (const tokens of [1, 3, 5, 8, 11]) {
      await assertExperts(device, { ...shape, ...NARROW, format: "F16", tokens });
      await assertExperts(device, {
        ...shape,
        format: "Q4_0",
        cols: 4,
        tile: wide,
        tokens,
        integer,
      });
    }
    await assertExperts(device, { ...shape, format: "Q8_0", tokens: 37, integer });
  },
);

webGpuTest(
  "Tokens that have every expert are multiplied in staged tiles and by parts",
  async () => {
    using device = await WebGpuDevice.open({ maxBindingSize: 49 * 3 * 16 });
    const shape = { every: true, topK: 0, experts: 6, rows: 20, columns: 96, format: "Q4_0" };
    const wide = { rows: 1, cols: 2, lanes: 1, workgroup: 8 };
    await device.scoped("multiply", async () => {
      await assertExperts(device, { ...shape, tokens: 5, cols: 2, tile: wide, parts: 3 });
      const staged = { cols: 64, tile: "staged" as const, parts: 3, affine: true };
      await assertExperts(device, { ...shape, ...staged, tokens: 67, perPair: true });
      await assertExperts(device, { ...shape, ...staged, tokens: 9 });
    });
  },
);

webGpuTest("ExpertLinear refuses parts that end within an expert", async () => {
  using device = await WebGpuDevice.open({ maxBindingSize: 49 * 3 * 16 });
  const format = formatNamed("Q4_0");
  const matrix = allocateMatrix(device, "w", format, { rows: 120, columns: 96 });
  const chosen = new GpuExpertPairs(device, allocateRouting(device, 1, { experts: 6, topK: 1 }), 1);
  const x = floatRows(device, "x", 1, 96);
  const y = floatRows(device, "y", 1, 20);
  const create = () => new ExpertLinear(device, matrix, chosen, x, y, { share: 1 });
  assertThrows(create, GpuError, "a part has 32 rows, an expert 20");
});
