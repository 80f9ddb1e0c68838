// The yardstick of `quern bench`, on every device.

import { assert, assertEquals } from "@std/assert";
import type { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { gpuTest } from "../gpu.ts";

gpuTest("readBandwidth() gives a rate that memory has, and its buffers back", async (device) => {
  const before = allocated(device);
  const rate = await device.readBandwidth();
  assert(rate > 1e8 && rate < 1e14, `${rate} bytes per second`);
  assertEquals(allocated(device), before);
});

function allocated(device: WebGpuDevice): number {
  return [...device.allocated.values()].reduce((sum, bytes) => sum + bytes, 0);
}
