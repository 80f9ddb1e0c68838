// The gated norm against its reference: without a gate and with each, of columns from the
// middle of wider rows.

import { type Device, type GatedNormGate, gatedNormReference } from "../../../kernels/mod.ts";
import { webGpuTest } from "../../adapter.ts";
import { deviceTest, submit, upload } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { profileNamed } from "../../profiles.ts";
import { assertRows, outputRows, ULP, uploadRows } from "../close.ts";
import { openPretended } from "../product_profiles.ts";
import { columnsOf } from "./steps.ts";

const ROWS = 3;
const EPSILON = 1e-5;

async function assertNorm(
  device: Device,
  columns: number,
  groups: number,
  gate?: GatedNormGate & { sharedWeight: boolean },
) {
  const count = columns * groups;
  const [xWide, zWide] = [count + 3, count + 6];
  const x = randomFloats(ROWS * xWide, 1);
  const z = randomFloats(ROWS * zWide, 2).map((value) => value * 4);
  const sharedWeight = gate?.sharedWeight ?? false;
  const weight = randomFloats(sharedWeight ? columns : count, 3);
  const y = outputRows(device, ROWS, count, false);
  if (!("floats" in y)) throw new TypeError("Cannot test: the rows are not f32");
  const norm = device.gatedNorm({ rows: uploadRows(device, x, xWide), first: 3 }, y, {
    groups,
    weight: upload(device, weight),
    sharedWeight,
    epsilon: EPSILON,
    ...(gate ? { gate: { ...gate, z: { rows: uploadRows(device, z, zWide), first: 1 } } } : {}),
  });
  submit(device, (pass) => norm.encode(pass, ROWS));
  const gates = columnsOf(z, zWide, 1, 1 + count);
  const expected = gatedNormReference(
    columnsOf(x, xWide, 3, 3 + count),
    columns,
    weight,
    EPSILON,
    gate && { ...gate, z: gates },
  );
  // A gate has 3 + 2|z| ULP of exp and 4 more, in the squares twice but of the greatest |z| there,
  // 32; the sum of squares half an ULP a term; what follows 8 ULP.
  const gateError = gate ? 7 + 2 * 32 : 0;
  await assertRows(
    device,
    y,
    expected,
    (i) => (8 + columns / 2 + 2 * gateError) * ULP * Math.abs(expected[i]) + 1e-36,
  );
}

deviceTest(
  "GatedNorm without a gate matches the reference for 2, 16 and 200 columns",
  async (device) => {
    for (const columns of [2, 16, 200]) await assertNorm(device, columns, 2);
  },
);

for (const activation of ["silu", "sigmoid"] as const) {
  deviceTest(`GatedNorm gated by ${activation} matches the reference`, async (device) => {
    await assertNorm(device, 64, 3, { activation, sharedWeight: true });
  });
}

for (const profile of ["subgroups of 32,64, 32 KiB", "no subgroups, 16 KiB"]) {
  webGpuTest(`GatedNorm adds up as many sums as there are with ${profile}`, async () => {
    using device = await openPretended(profileNamed(profile));
    await device.scoped("normalize", () => assertNorm(device, 64, 3));
  });
}
