// Norms that are fused with a product, and finished by the product that reads them: every kind of format, each
// way to add up the sums of a team, and what is refused. The everyday tests have the first cases of each
// list, since a software driver compiles every one of them anew; test:kernels has all.

import { assertEquals, assertThrows } from "@std/assert";
import { floatRows, GpuError, type Norm, quantizedRows } from "../../kernels/mod.ts";
import { Linear, mostFusedNormRows, WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { gpuTest } from "../gpu.ts";
import { webGpuTest } from "../adapter.ts";
import { profileNamed } from "../profiles.ts";
import { firstOf } from "../share.ts";
import { assertFusedNorm, fusedNormKinds } from "./fused_norm_case.ts";
import { openPretended } from "./product_profiles.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

let opened: Promise<WebGpuDevice> | undefined;

for (const { format, integer } of firstOf(fusedNormKinds(), 3)) {
  const size = Math.max(96, formatNamed(format).blockSize);
  webGpuTest(
    `a product by ${format} in ${
      integer ? "int8" : "f32"
    } has a fused norm, and the next one finishes it`,
    async () => {
      const device = await (opened ??= WebGpuDevice.open());
      const shape = { format, integer, width: size, columns: size };
      await device.scoped("norm", async () => {
        for (const tokens of integer ? [1, 5] : [5]) {
          await assertFusedNorm(device, { ...shape, tokens });
        }
      });
    },
  );
}

for (const integer of firstOf([true, false], 1)) {
  const name = integer ? "int8" : "f32";
  webGpuTest(
    `more rows than that are normed by themselves; scaled rows, and pairs: ${name}`,
    async () => {
      const device = await (opened ??= WebGpuDevice.open());
      const shape = { format: "Q8_0", integer, width: 160, columns: 64 };
      for (const tokens of [8, 9, 33]) await assertFusedNorm(device, { ...shape, tokens });
      await assertFusedNorm(device, { ...shape, tokens: 2, affine: true });
      await assertFusedNorm(device, { ...shape, tokens: 3, paired: true });
    },
  );
}

webGpuTest("what a product norms may have another form than what it reads", async () => {
  const device = await (opened ??= WebGpuDevice.open());
  const shape = { format: "Q8_0", width: 96, columns: 160, tokens: 3 };
  await assertFusedNorm(device, { ...shape, integer: true, quantized: false });
  await assertFusedNorm(device, { ...shape, integer: false, quantized: true });
});

webGpuTest("f32 rows that lack a norm's division can become int8 groups that lack it", async () => {
  const device = await (opened ??= WebGpuDevice.open());
  const shape = { format: "Q8_0", width: 160, columns: 64, integer: false, converted: true };
  for (const tokens of [3, 9]) await assertFusedNorm(device, { ...shape, tokens });
});

for (const integer of firstOf([true, false], 1)) {
  webGpuTest(`experts finish a norm in ${integer ? "int8" : "f32"}`, async () => {
    using device = await openPretended(profileNamed("subgroups of 32,64, 32 KiB"));
    const shape = { format: "Q8_0", width: 160, columns: 64, integer, experts: true };
    for (const tokens of integer ? [1, 7, 9] : [1, 7]) {
      await assertFusedNorm(device, { ...shape, tokens });
    }
  });
}

const PROFILES = [
  "subgroups of 32,64, 32 KiB",
  "subgroups of 32,32, 32 KiB",
  "subgroups of 8,32, 16 KiB",
  "no subgroups, 16 KiB",
];

for (const profile of firstOf(PROFILES, 1)) {
  webGpuTest(`a fused norm with ${profile}`, async () => {
    using device = await openPretended(profileNamed(profile));
    for (const integer of [true, false]) {
      const shape = { format: "Q8_0", integer, width: 1056, columns: 96 };
      await assertFusedNorm(device, { ...shape, tokens: 1, paired: true });
      if (integer) await assertFusedNorm(device, { ...shape, tokens: 5 });
    }
  });
}

gpuTest("products refuse norms that cannot be fused", async (device) => {
  await Promise.resolve();
  const gpu = device as WebGpuDevice;
  const { matrix } = randomMatrix(gpu, formatNamed("Q8_0"), { rows: 64, columns: 64 });
  const pair = randomMatrix(gpu, formatNamed("Q8_0"), { rows: 64, columns: 64, sides: 2 }).matrix;
  assertEquals([mostFusedNormRows(matrix), mostFusedNormRows(pair)], [8, 0]);
  assertEquals(gpu.mostFusedNormRows(matrix), gpu.capabilities.software ? 0 : 8);
  const x = quantizedRows(gpu, "x", 1, 64);
  const y = floatRows(gpu, "y", 1, 64);
  const groups = quantizedRows(gpu, "normed", 1, 64, { deferredEpsilon: 1e-5 });
  const weight = gpu.buffer("weight", 256, "test");
  const norm = { kind: "rms" as const, epsilon: 1e-5, weight };
  const refuse = (matrix: typeof pair, own: Norm, state: string) => {
    const options = { norm: { norm: own, y: groups } };
    assertThrows(() => new Linear(gpu, matrix, x, y, options), GpuError, state);
  };
  refuse(pair, norm, "64 rows and 2 sides");
  refuse(matrix, { ...norm, kind: "layer" }, "only RMSNorms with weights");
  refuse(matrix, { ...norm, epsilon: 1e-6 }, "readers are told of 0.00001");
});
