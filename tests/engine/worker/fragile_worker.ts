// The engine's worker with two more words: `crash` throws where nobody catches, `lose` has the running
// model lose its device. Both happen in the field, and neither on demand.

import { CpuDevice } from "../../../kernels/cpu/device.ts";
import { DeviceLostError } from "../../../kernels/mod.ts";
import { WebGpuDevice } from "../../../kernels/webgpu/mod.ts";

/** A GPU's device is destroyed; a CPU cannot be lost, so it says that it were. */
const loses: (() => void)[] = [];
const { open: openGpu } = WebGpuDevice;
WebGpuDevice.open = async (options) => {
  const device = await openGpu.call(WebGpuDevice, options);
  loses.push(() => device.gpu.destroy());
  return device as never;
};
const { open } = CpuDevice;
CpuDevice.open = async (options) => {
  const device = await open.call(CpuDevice, options);
  const { promise, resolve } = Promise.withResolvers<DeviceLostError>();
  loses.push(() =>
    resolve(new DeviceLostError("Cannot use the device: device lost: the test wants it so"))
  );
  return Object.defineProperty(device, "lost", { value: promise });
};

globalThis.addEventListener("message", ({ data }: MessageEvent) => {
  if (data.kind === "crash") throw new Error("the test wants it so");
  if (data.kind === "lose") loses.forEach((lose) => lose());
});

await import("../../../engine/worker/model_worker.ts");
