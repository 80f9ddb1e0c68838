// What the server and library users may use of the engine: loading and running models, looking at
// them without a GPU, the store and the manager of a machine's models, and the errors of all layers
// below.

export { DeviceLostError, GpuError, GpuMemoryError } from "../kernels/mod.ts";
export type { Capabilities, DeviceOptions, DeviceProfile, ProductCheck } from "../kernels/mod.ts";
export { ChatTemplateError, TokenizerError } from "../tokenizer/mod.ts";
export type {
  ChatTemplateFault,
  DecodeOptions,
  EncodeOptions,
  StreamDecoder,
  StreamDecoderOptions,
  TaintedText,
  Text,
  Tokenizer,
} from "../tokenizer/mod.ts";
export { BOX_MODEL } from "./box/mod.ts";
export * from "./create/mod.ts";
export * from "./errors.ts";
export { examineGpu, measureReadBandwidth } from "./gpu.ts";
export type { GpuExamination } from "./gpu.ts";
export { compileGrammar, compilePattern, compileSchema } from "./grammar/mod.ts";
export { GrammarError, SchemaError } from "./grammar/mod.ts";
export type { CompiledSchema, CompileOptions, Matcher } from "./grammar/mod.ts";
export type { Grammar, GrammarRules } from "./grammar/mod.ts";
export { readHeader } from "./header.ts";
export type { FileHeader, HeaderOptions, HeaderValue } from "./header.ts";
export { inspectModel, loadTokenizer } from "./inspect.ts";
export { ModelManager } from "./manager/mod.ts";
export type {
  AcquireOptions,
  BusyWorker,
  Clock,
  Isolation,
  Lease,
  ManagerOptions,
  OpenOptions,
  RunningModel,
} from "./manager/mod.ts";
export {
  createEstimate,
  estimateInWorker,
  estimateMemory,
  formatSize,
  gpuProfile,
} from "./memory/mod.ts";
export { readMemoryBudget } from "./memory/mod.ts";
export type { BudgetOptions, FileSource, MemoryBudget, MemoryEstimate } from "./memory/mod.ts";
export { loadModel } from "./model.ts";
export type { LocalLoadOptions, Model } from "./model.ts";
export { IMAGE_PLACE } from "./image_marks.ts";
export type { PromptImage, PromptItem } from "./prompt_images.ts";
export { usableProjector } from "./sight.ts";
export * from "./store/mod.ts";
export { TimeSlice } from "./time_slice.ts";
export type * from "./types.ts";
export { ImageError } from "./vision/mod.ts";
export { openModelInProcess, openModelInWorker } from "./worker_client.ts";
export { serveModelProcess } from "./model_process.ts";
export type { ProcessOptions } from "./process_host.ts";
