// The check that `quern doctor` runs, and the yardstick of `quern bench`, on every device.

import { assert, assertEquals } from "@std/assert";
import { checkProduct } from "../../kernels/mod.ts";
import type { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
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

gpuTest("readBandwidth() gives a rate that memory has, and its buffers back", async (device) => {
  const before = allocated(device);
  const rate = await device.readBandwidth();
  assert(rate > 1e8 && rate < 1e14, `${rate} bytes per second`);
  assertEquals(allocated(device), before);
});

function allocated(device: WebGpuDevice): number {
  return [...device.allocated.values()].reduce((sum, bytes) => sum + bytes, 0);
}
