// Quantization of activations: against the rule that a code is the nearest multiple of the group's
// scale, and against its reference code by code.

import { assert, assertEquals } from "@std/assert";
import { GROUP, isQuantized, quantizeReference } from "../../kernels/mod.ts";
import { rowBinders } from "../../kernels/webgpu/mod.ts";
import { gpuTest, submit } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, readGroups, relative, uploadRows } from "./close.ts";

gpuTest("Quantize matches the rounded values for 1, 33 and 1100 columns", async (device) => {
  for (const columns of [1, 33, 1100]) {
    const values = randomFloats(3 * columns, columns);
    values.fill(0, columns, columns + GROUP); // a group without a peak
    const x = uploadRows(device, values, columns);
    const y = outputRows(device, 3, columns, true);
    assert(isQuantized(y));
    submit(device, (pass) => rowBinders.quantize(device, x, y).encode(pass, 3));
    await assertRows(device, y, values, relative(values, 0)); // its input is exact
  }
});

gpuTest("Quantize gives the codes of quantizeReference()", async (device) => {
  // A peak of 127 makes the codes the values rounded; none lies half way between two codes.
  const values = randomFloats(GROUP, 5).map((value) => Math.fround(Math.round(value * 9) + 0.25));
  values[7] = -127;
  const x = uploadRows(device, values, GROUP);
  const y = outputRows(device, 1, GROUP, true);
  assert(isQuantized(y));
  submit(device, (pass) => rowBinders.quantize(device, x, y).encode(pass, 1));
  const [{ codes }] = await readGroups(device, y, 1);
  assertEquals(codes, quantizeReference(values).codes);
});

gpuTest(
  "Quantize keeps what is no number: the scale of its group is none either",
  async (device) => {
    const values = randomFloats(6 * GROUP, 3);
    const faults = [NaN, -NaN, Infinity, -Infinity];
    faults.forEach((fault, group) => values[group * GROUP + 9 * group] = fault);
    const x = uploadRows(device, values, values.length);
    const y = outputRows(device, 1, values.length, true);
    assert(isQuantized(y));
    submit(device, (pass) => rowBinders.quantize(device, x, y).encode(pass, 1));
    const scales = (await readGroups(device, y, 6)).map(({ scales: [scale] }) => scale);
    assertEquals(scales.map(Number.isFinite), [false, false, false, false, true, true]);
  },
);
