// Products by subgroup matrices: which devices get them, and some of what they compute, by a driver
// without them (tests/pretended_matrices.ts); profiles/matrices.ts computes the rest. What a compiler
// with the extension makes of the kernels is in bench/gpu_offline_test.ts.

import { assert, assertEquals } from "@std/assert";
import { floatRows, quantizedRows } from "../../kernels/mod.ts";
import {
  allocateMatrix,
  chooseTile,
  Linear,
  MATRICES,
  type MatrixSize,
  matrixSize,
  STAGED,
  tileFault,
  WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { webGpuTest } from "../adapter.ts";
import { deviceProfile, MATRIX_PROFILES, profileNamed, PROFILES } from "../profiles.ts";
import { type Kernels, recordingGpu } from "../recording_gpu.ts";
import { assertMatrices } from "./matrices_case.ts";
import { formatNamed } from "./weights.ts";

webGpuTest("products by subgroup matrices are right where subgroups may be smaller", async () => {
  const shape = { format: "Q2_K", rows: 70, columns: 256, tokens: 72, affine: true };
  const options = { accumulate: true, first: 5 };
  await assertMatrices(profileNamed("subgroup matrices of AMD"), [{ ...shape, options }]);
});

webGpuTest("products by subgroup matrices are right for floats and pairs", async () => {
  const shape = { format: "F16", rows: 70, columns: 96, tokens: 72, paired: true };
  await assertMatrices(profileNamed("subgroup matrices of Apple"), [shape]);
});

Deno.test("devices with subgroup matrices multiply many tokens by them, all others do not", () => {
  for (const profile of [...PROFILES, ...MATRIX_PROFILES]) {
    const device = deviceProfile(profile);
    const component = profile.matrices?.[0].component;
    for (const integer of [false, true]) {
      for (const sides of [1, 2] as const) {
        for (const quantized of [false, true]) {
          const use = { sides, integer, quantized };
          const what = `${profile.name}: ${JSON.stringify(use)}`;
          const hasMatrices = component === "f32" || component === "f16" && integer;
          const many = chooseTile(device, 256, use);
          if (hasMatrices) assertEquals(many, MATRICES, what);
          else assert(many !== MATRICES, what);
          assertEquals(tileFault(device, MATRICES, use) === undefined, hasMatrices, what);
          assert(chooseTile(device, 8, use) !== MATRICES, what);
        }
      }
    }
  }
});

Deno.test("a size is chosen that divides the tile, and the largest of these", () => {
  const f16 = (M: number, N: number, K: number): MatrixSize => ({ component: "f16", M, N, K });
  const choose = (mostSubgroup: number, ...sizes: MatrixSize[]) =>
    matrixSize({ sizes, mostSubgroup }, { integer: true });
  assertEquals(choose(32, f16(16, 8, 8), f16(16, 16, 16), f16(16, 8, 16)), f16(16, 16, 16));
  // 64 rows are two sides of 32; 64 columns are more than a group; 24 divide nothing.
  assertEquals(choose(64, f16(64, 16, 16), f16(16, 16, 64), f16(24, 16, 16)), undefined);
  assertEquals(choose(8, f16(16, 32, 16)), undefined);
  // A workgroup of 128 has no whole subgroup of 256, and none of no size.
  assertEquals(choose(256, f16(16, 16, 16)), undefined);
  assertEquals(choose(0, f16(16, 16, 16)), undefined);
  assertEquals(choose(128, f16(16, 16, 16)), f16(16, 16, 16));
  assertEquals(
    matrixSize({ sizes: [f16(16, 16, 16)], mostSubgroup: 32 }, { integer: false }),
    undefined,
  );
});

Deno.test("a device without the features has no subgroup matrices", async () => {
  const profile = profileNamed("subgroup matrices of NVIDIA");
  using whole = await WebGpuDevice.open({ gpu: recordingGpu(profile, new Map()) });
  assertEquals(whole.profile.matrices?.sizes, profile.matrices);
  assertEquals(whole.profile.matrices?.mostSubgroup, 32);
  const options = { gpu: recordingGpu(profile, new Map()), without: ["subgroups" as const] };
  using core = await WebGpuDevice.open(options);
  assertEquals(core.profile.matrices, undefined);
  const { matrices: _, ...plain } = profile;
  using other = await WebGpuDevice.open({ gpu: recordingGpu(plain, new Map()) });
  assertEquals(other.profile.matrices, undefined);
});

Deno.test("kernels with subgroup matrices enable what they use, and no others do", async () => {
  const kernels: Kernels = new Map();
  const profile = profileNamed("subgroup matrices of AMD");
  using device = await WebGpuDevice.open({ gpu: recordingGpu(profile, kernels) });
  const format = formatNamed("Q4_K");
  const matrix = allocateMatrix(device, "w", format, { rows: 64, columns: 256 });
  const [x, y] = [quantizedRows(device, "x", 64, 256), floatRows(device, "y", 64, 64)];
  const pass = device.gpu.createCommandEncoder().beginComputePass();
  for (const tile of [MATRICES, STAGED] as const) {
    new Linear(device, matrix, x, y, { tile }).encode(pass, 64);
  }
  const [[matrices], [staged]] = kernels;
  assert(matrices.startsWith("enable f16;\nenable subgroups;\nenable chromium_experimental_sub"));
  assert(!staged.includes("enable"));
});
