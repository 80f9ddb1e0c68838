// Products of one input by several matrices, with results side by side: on every device; and those of
// few rows as one dispatch, on GPUs that are pretended. All profiles: tests/profiles/stacked_linear.ts.

import { assertEquals } from "@std/assert";
import { floatRows, quantFormats } from "../../kernels/mod.ts";
import { StackedLinear, WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { webGpuTest } from "../adapter.ts";
import { deviceTest } from "../gpu.ts";
import { profileNamed } from "../profiles.ts";
import { recordingGpu } from "../recording_gpu.ts";
import { firstOf } from "../share.ts";
import { openPretended } from "./product_profiles.ts";
import { assertStacked, type StackedCase } from "./stacked_linear_case.ts";
import { formatNamed } from "./weights.ts";

const MIXED: StackedCase = {
  matrices: [["Q4_K", 70], ["Q6_K", 37]],
  columns: 512,
  tokens: 1,
};

deviceTest("products of several formats stand side by side", async (device) => {
  for (const tokens of [1, 5, 40]) await assertStacked(device, { ...MIXED, tokens, integer: true });
  await assertStacked(device, { ...MIXED, accumulate: true, affine: true, gap: 3 });
});

const JOINED: [profile: string, shape: Partial<StackedCase>][] = [
  ["subgroups of 32,64, 32 KiB", { integer: true, gap: 2, affine: true, accumulate: true }],
  ["subgroups of 32,32, 32 KiB", { normed: true, integer: true, tokens: 2 }],
  ["no subgroups, 16 KiB", { normed: true }],
];

for (const [name, shape] of firstOf(JOINED, 1)) {
  webGpuTest(`products of several formats are one dispatch with ${name}`, async () => {
    using device = await openPretended(profileNamed(name));
    await device.scoped("multiply", () => assertStacked(device, { ...MIXED, ...shape }));
  });
}

/** Workgroups of each dispatch of stacked products, on a GPU that computes nothing. */
async function dispatchesOf(
  matrices: StackedCase["matrices"],
  tokens: number,
  { profile = "subgroups of 32,32, 32 KiB", affine = false } = {},
): Promise<string[]> {
  const dispatches: string[] = [];
  const gpu = recordingGpu(profileNamed(profile), new Map(), dispatches);
  using device = await WebGpuDevice.open({ gpu });
  const x = floatRows(device, "x", 72, 256);
  const y = floatRows(device, "y", 72, 1024);
  const parts = matrices.map(([format, rows], i) => {
    const matrix = device.matrix("w", formatNamed(format), { rows, columns: 256 });
    if (affine) {
      const values = new Float32Array(rows);
      device.setAffine(matrix, { scale: values, bias: values });
    }
    return { matrix, first: i * 128 };
  });
  const linear = new StackedLinear(device, parts, x, y);
  linear.prepare(72);
  const pass = device.gpu.createCommandEncoder().beginComputePass();
  linear.encode(pass, tokens);
  return dispatches;
}

Deno.test("stacked products are one dispatch for few rows where all their buffers fit", async () => {
  const mixed = [["Q4_K", 100], ["Q6_K", 36]] as const;
  // Tiles of eight rows: 13, and 5.
  assertEquals(await dispatchesOf(mixed, 1), ["1,18,1"]);
  assertEquals((await dispatchesOf(mixed, 8)).length, 1);
  // Tiles of four rows and eight tokens: those of the same rows follow each other.
  assertEquals(await dispatchesOf(mixed, 9), ["2,25,1", "2,9,1"]);
  assertEquals((await dispatchesOf(mixed, 1, { affine: true })).length, 1);
  const software = { profile: "software, no subgroups" };
  assertEquals((await dispatchesOf(mixed, 1, software)).length, 2);
  const large = [["Q5_K", 64], ["Q6_K", 64]] as const;
  assertEquals((await dispatchesOf(large, 1)).length, 1);
  assertEquals((await dispatchesOf(large, 1, { affine: true })).length, 2);
  const three = [["Q4_K", 64], ["Q8_0", 64], ["Q4_0", 64]] as const;
  assertEquals((await dispatchesOf(three, 1)).length, 1);
  assertEquals((await dispatchesOf([...mixed, ["Q8_0", 64]], 1)).length, 2);
});

Deno.test("stacked products of few rows get the tile that is tuned for the largest", async () => {
  const dispatches: string[] = [];
  const gpu = recordingGpu(profileNamed("subgroups of 32,32, 32 KiB"), new Map(), dispatches);
  using device = await WebGpuDevice.open({ gpu });
  const x = floatRows(device, "x", 1, 256);
  const y = floatRows(device, "y", 1, 160);
  const parts = (["Q6_K", "Q4_K"] as const).map((name, i) => ({
    matrix: device.matrix("w", formatNamed(name), { rows: 32 * (1 + 3 * i), columns: 256 }),
    first: 32 * i,
  }));
  const linear = new StackedLinear(device, parts, x, y);
  linear.prepare(1);
  const pass = device.gpu.createCommandEncoder().beginComputePass();
  linear.encode(pass, 1);
  const tuned = device.choices.bound().map(({ kernel }) => kernel);
  const largest = tuned.find((kernel) => kernel.kernel === "product" && kernel.format === "Q4_K")!;
  device.choices.choose(largest, "2x1, 32 of 64");
  linear.encode(pass, 1);
  // Tiles of eight rows, and of four.
  assertEquals(dispatches, ["1,20,1", "1,40,1"]);
});

webGpuTest("one kernel can have products by every format, in any order", async () => {
  const formats = quantFormats.map(({ name }) => name);
  using device = await openPretended(profileNamed("subgroups of 32,32, 32 KiB"));
  const pass = device.gpu.createCommandEncoder().beginComputePass();
  const x = floatRows(device, "x", 1, 256);
  const y = floatRows(device, "y", 1, 64);
  for (const [i, name] of formats.entries()) {
    const parts = [name, formats[(i + 7) % formats.length]!].map((name, i) => ({
      matrix: device.matrix("w", formatNamed(name), { rows: 32, columns: 256 }),
      first: 32 * i,
    }));
    await device.scoped(`multiply by ${name}`, () => {
      new StackedLinear(device, parts, x, y).encode(pass, 1);
    });
  }
  pass.end();
});
