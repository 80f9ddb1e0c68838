// The kernels of a device, tuned while its model is idle, and the files of what is found out about it.

export { DeviceFile, type DeviceFileHead, recordOf } from "./device_file.ts";
export { type DeviceFault, ProofFile, type ProofOptions, type ProvedModel } from "./proof_file.ts";
export { KernelTuning, type TunedModel } from "./kernel_tuning.ts";
export { areTunedKernels, TuningFile, type TuningOptions } from "./tuning_file.ts";
export { type DeviceTuning, tuneDevice } from "./tune_device.ts";
