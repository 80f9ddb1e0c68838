// The check that `quern doctor` runs, on every device.

import { assert, assertEquals } from "@std/assert";
import { checkProduct } from "../../kernels/mod.ts";
import { gpuTest } from "../gpu.ts";

gpuTest("checkProduct() finds nothing wrong", async (device) => {
  const { values, wrong, milliseconds } = await checkProduct(device);
  assertEquals([values, wrong], [64, 0]);
  assert(milliseconds > 0);
});

gpuTest("checkProduct() counts what is wrong", async (device) => {
  // The activations get lost on their way.
  const { write } = device;
  device.write = (buffer, offset, data) => {
    if (buffer.label !== "check x") write.call(device, buffer, offset, data);
  };
  try {
    const { wrong } = await checkProduct(device);
    assert(wrong > 0, `${wrong} values are wrong`);
  } finally {
    device.write = write;
  }
});
