// The matrix product against plain loops: every weight format, both kinds of activations, the tiles
// that devices choose, and each way of writing the result. Shapes are multiples of nothing.
// Drivers compile each variant anew, for up to seconds: few variants, each with many cases.

import { GROUP, quantFormats } from "../../kernels/mod.ts";
import { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { gpuTest } from "../gpu.ts";
import { assertLinear } from "./linear_case.ts";
import { webGpuTest } from "../adapter.ts";

let opened: Promise<WebGpuDevice> | undefined;

/** The narrowest variant: one row and one token per invocation. */
const NARROW = { rows: 1, cols: 1, lanes: 1, workgroup: 8 };

for (const { name, blockSize, kind } of quantFormats) {
  const shape = { format: name, rows: 19, columns: 3 * Math.max(GROUP, blockSize), tokens: 3 };
  webGpuTest(`Linear multiplies ${name} weights by float and by int8 activations`, async () => {
    const device = await (opened ??= WebGpuDevice.open());
    await device.scoped("multiply", async () => {
      await assertLinear(device, { ...shape, options: { tile: NARROW } });
      if (kind === "float") return;
      await assertLinear(device, { ...shape, integer: true, options: { tile: NARROW } });
    });
  });
}

gpuTest("Linear chooses tiles for 1, 3 and 13 tokens", async (device) => {
  const integer = device.capabilities.packedDot;
  for (const tokens of [1, 3, 13]) {
    await assertLinear(device, { format: "Q4_0", rows: 37, columns: 96, tokens, integer });
  }
});

gpuTest("Linear splits columns over a team", async (device) => {
  const lanes = device.capabilities.subgroupSize || 4;
  const options = { tile: { rows: 2, cols: 2, lanes, workgroup: 2 * lanes } };
  const shape = { rows: 19, tokens: 3, options };
  await assertLinear(device, { ...shape, format: "F16", columns: 365 });
  await assertLinear(device, { ...shape, format: "Q6_K", columns: 768 });
});

gpuTest("Linear keeps eight tokens and pads float rows that end in a group", async (device) => {
  const options = { tile: { rows: 1, cols: 8, lanes: 1, workgroup: 4 } };
  await assertLinear(device, { format: "F16", rows: 5, columns: 45, tokens: 9, options });
});

gpuTest("Linear adds scaled and biased rows to some columns of wider rows", async (device) => {
  const options = { tile: NARROW, accumulate: true, first: 7 };
  const shape = { format: "Q4_0", rows: 19, columns: 96, tokens: 3, affine: true };
  await assertLinear(device, { ...shape, options });
});

gpuTest("Linear gates paired rows, also into int8 groups", async (device) => {
  const integer = device.capabilities.packedDot;
  const tile = { rows: 2, cols: 1, lanes: 1, workgroup: 16 };
  const shape = { format: "Q4_0", columns: 224, tokens: 3, integer, paired: true };
  await assertLinear(device, { ...shape, rows: 36, affine: true, options: { tile } });
  const lanes = 4;
  const shared = { rows: 4, cols: 2, lanes, workgroup: 8 * lanes };
  for (const rows of [36, 70]) {
    const options = { tile: shared };
    await assertLinear(device, { ...shape, rows, quantized: true, options });
  }
});

gpuTest("Linear stages tiles of 64 rows and 64 tokens", async (device) => {
  const integer = device.capabilities.packedDot;
  const options = { tile: "staged" as const };
  const shape = { columns: 96, tokens: 67, options };
  await assertLinear(device, { ...shape, format: "Q4_0", rows: 70, integer });
  await assertLinear(device, { ...shape, format: "F16", rows: 70, columns: 45 });
  await assertLinear(device, {
    ...shape,
    format: "Q4_0",
    rows: 70,
    paired: true,
    quantized: true,
    integer,
  });
}, { dawn: false });

gpuTest("Linear wraps more than 32,768 row tiles", async (device) => {
  const options = { tile: { rows: 1, cols: 1, lanes: 1, workgroup: 1 } };
  await assertLinear(device, { format: "F16", rows: 33001, columns: 32, tokens: 1, options });
}, { dawn: false });

webGpuTest("Linear multiplies matrices that are split in parts, single and paired", async () => {
  using device = await WebGpuDevice.open({ maxBindingSize: 40 * 3 * 16 }); // 40 rows of three Q4_0 blocks
  const options = { tile: NARROW };
  const shape = { format: "Q4_0", columns: 96, tokens: 3, affine: true, options };
  await device.scoped("multiply", async () => {
    await assertLinear(device, { ...shape, rows: 71, parts: 3 });
    const tile = { rows: 2, cols: 1, lanes: 1, workgroup: 16 };
    await assertLinear(device, { ...shape, rows: 70, parts: 3, paired: true, options: { tile } });
  });
});
