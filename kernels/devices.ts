// The kinds of devices: each export is one, by its name in QUERN_DEVICE. A new kind is a folder of its
// own and a line here.

export { CpuDevice as cpu } from "./cpu/device.ts";
export { dawn, webgpu } from "./webgpu/device.ts";
