// The engine's worker with two more words: `crash` throws where nobody catches, `lose` destroys
// the GPU device under the running model. Both happen in the field, and neither on demand.

const devices: GPUDevice[] = [];

const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (...args) {
  const device = await requestDevice.apply(this, args);
  devices.push(device);
  return device;
};

globalThis.addEventListener("message", ({ data }: MessageEvent) => {
  if (data.kind === "crash") throw new Error("the test wants it so");
  if (data.kind === "lose") devices.forEach((device) => device.destroy());
});

await import("../../../engine/worker/worker.ts");
