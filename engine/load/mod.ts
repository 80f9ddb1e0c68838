// From a GGUF file to a model on a device, and what a file tells without a device.

export { type RankFormat, readRankFormat } from "./rank_format.ts";
export { assemble, type Assembly } from "./assemble.ts";
export { mtpWarnings } from "./build_runner.ts";
export { DRAFT_ADVICE, vocabularyFault } from "./draft_model.ts";
export { type DeviceExamination, examineDevice, measureReadBandwidth } from "./examine_device.ts";
export { examineInWorker } from "./worker_examination.ts";
export { type FileHeader, type HeaderOptions, type HeaderValue, readHeader } from "./header.ts";
export {
  devicesFor,
  type Layout,
  layoutOf,
  type ModelDevices,
  openDevices,
  place,
} from "./placement.ts";
export { ENCODER_STEP, USUAL_CHUNK } from "./prefill_chunk.ts";
export { describeModel, inspectModel, loadTokenizer } from "./inspect.ts";
