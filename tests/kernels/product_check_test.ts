// The check that `quern doctor` runs, and the yardstick of `quern bench`, on every device.

import { assert, assertEquals } from "@std/assert";
import { checkProduct, readBandwidth } from "../../kernels/mod.ts";
import { gpuTest } from "../gpu.ts";

gpuTest("checkProduct() finds nothing wrong", async (device) => {
  const { values, wrong, milliseconds } = await checkProduct(device);
  assertEquals([values, wrong], [64, 0]);
  assert(milliseconds > 0);
});

gpuTest("checkProduct() counts what is wrong", async (device) => {
  // A device that loses what is written to it after the weights: the activations.
  const deaf = Object.create(device, {
    write: {
      value: (buffer: GPUBuffer, offset: number, data: Uint8Array) => {
        if (buffer.label !== "check x") device.write(buffer, offset, data);
      },
    },
    scoped: { value: (_: string, work: () => unknown) => work() },
  });
  const { wrong } = await checkProduct(deaf);
  assert(wrong > 0, `${wrong} values are wrong`);
});

gpuTest(
  "readBandwidth() gives a rate that memory can have, and leaves nothing behind",
  async (device) => {
    const before = [...device.allocated.values()].reduce((sum, bytes) => sum + bytes, 0);
    const rate = await readBandwidth(device);
    assert(rate > 1e8 && rate < 1e14, `${rate} bytes per second`);
    assertEquals([...device.allocated.values()].reduce((sum, bytes) => sum + bytes, 0), before);
  },
);
