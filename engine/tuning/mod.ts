// The kernels of a device, tuned while its model is idle.

export { KernelTuning, type TunedModel } from "./kernel_tuning.ts";
export { TuningFile, type TuningOptions } from "./tuning_file.ts";
export { type DeviceTuning, tuneDevice } from "./tune_device.ts";
