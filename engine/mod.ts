// The engine, as the server and users of the library see it: loading and running models, inspecting
// them without a GPU, the store and the manager of a machine's models, and the errors of all layers
// below.

export {
  type CacheType,
  type CacheTypes,
  type Capabilities,
  DEVICE_KINDS,
  type DeviceChoice,
  type DeviceKind,
  DeviceLostError,
  type DeviceOptions,
  type DeviceProfile,
  type DeviceSettings,
  GpuError,
  GpuMemoryError,
  type ProductCheck,
  ResourceError,
  type Work,
} from "../kernels/mod.ts";
export {
  asDouble,
  ChatTemplateError,
  type ChatTemplateFault,
  type DecodeOptions,
  EmptyJsonError,
  type EncodeOptions,
  isJsonObject,
  JSON_BOUNDS,
  JsonBoundsError,
  JsonNumber,
  JsonSyntaxError,
  parseExactJson,
  parseJsonBytes,
  type StreamDecoder,
  type StreamDecoderOptions,
  type TaintedText,
  type Text,
  type Tokenizer,
  TokenizerError,
  ValueBudget,
  withDoubles,
} from "../tokenizer/mod.ts";
export {
  type BlockMemory,
  type BlockStore,
  type BlockStoreOptions,
  type BlockViewer,
  type DiskOptions,
  measureBlocks,
  MemoryStore,
  type RemoteShare,
  type StoredBlock,
  type SystemMemory,
} from "./block_store/mod.ts";
export { type ByteSource, type ByteSources, filesInMemory } from "./gguf/mod.ts";
export {
  type KeptFile,
  listKeptFiles,
  openSources,
  type RemoteFile,
  removeKeptFile,
  type SourceOptions,
  type WebFile,
} from "./web_files/mod.ts";
export {
  type ControlVector,
  type ControlVectorMethod,
  type LensPlace,
  type LensToken,
  type LogitLens,
  logitLens,
  type LogitLensRequest,
  makeControlVector,
  readControlVector,
  steer,
  type SteeringOptions,
  type TextPair,
  writeControlVector,
} from "./hooks/mod.ts";
export { BOX_MODEL } from "./box/mod.ts";
export { continuesFinalMessage } from "./chat/mod.ts";
export * from "./create/mod.ts";
export * from "./errors.ts";
export {
  type DeviceExamination,
  examineDevice,
  examineInWorker,
  type FileHeader,
  type HeaderOptions,
  type HeaderValue,
  inspectModel,
  loadTokenizer,
  measureReadBandwidth,
  readHeader,
} from "./load/mod.ts";
export { countFreeFiles, crc32, HostError, isOutOfFiles } from "../host/mod.ts";
export { FILES_OF_WORKER, keyOf, type TunedKernel } from "../kernels/mod.ts";
export {
  type DeviceFault,
  type DeviceTuning,
  type ProofOptions,
  type ProvedModel,
  tuneDevice,
  type TuningOptions,
} from "./tuning/mod.ts";
export {
  type CompiledSchema,
  compileGrammar,
  type CompileOptions,
  compilePattern,
  compileSchema,
  type Grammar,
  GrammarError,
  type GrammarRules,
  type JsonGrammar,
  type JsonType,
  type Matcher,
  SchemaError,
  type SchemaPointer,
  type SchemaWarning,
  type StringGrammar,
} from "./grammar/mod.ts";
export {
  type AcquireOptions,
  type AskedLoad,
  type BusyWorker,
  type Clock,
  type Isolation,
  type Lease,
  type LoadEstimate,
  type ManagerOptions,
  ModelManager,
  type OpenOptions,
  type RunningModel,
} from "./manager/mod.ts";
export {
  type BudgetOptions,
  createEstimate,
  defaultCacheMemory,
  estimateMemory,
  type FileSource,
  formatSize,
  gpuProfile,
  isGpuFaster,
  type MemoryBudget,
  type MemoryEstimate,
  readMemoryBudget,
} from "./memory/mod.ts";
export {
  adapterScales,
  describeAdapters,
  type DeviceVerdict,
  loadModel,
  type LocalLoadOptions,
  measurePerplexity,
  type Model,
  type ModelProfile,
  type OperationSum,
  type Perplexity,
  type PerplexityOptions,
  type PhaseProfile,
  profileModel,
  type ProfileOptions,
  proveModel,
  sumOperations,
} from "./model/mod.ts";
export type {
  OperationInfo,
  OperationTrace,
  StepRow,
  StepTrace,
  TapOutput,
  TapSelection,
  TapVisit,
} from "./run/mod.ts";
export {
  AUDIO_PLACEHOLDER,
  IMAGE_PLACEHOLDER,
  type PromptItem,
  type PromptMedia,
} from "./prompt/mod.ts";
export {
  type Answer,
  type ApproveCall,
  type ArgumentsOf,
  type CallContext,
  type CallResult,
  type GivenResult,
  type HistoryNode,
  type JsonObjectOf,
  type JsonSchema,
  type JsonValueOf,
  type LoopOptions,
  type RequiredOf,
  type SavedSession,
  type Schema,
  type SendOptions,
  Session,
  type SessionCall,
  type SessionEvent,
  type SessionModel,
  type SessionOptions,
  type SessionRequest,
  type SessionTool,
  type SessionTools,
  type StandardSchema,
  tool,
  Turn,
  type TurnWork,
  type TypeNameOf,
  type Validation,
  type ValidationIssue,
  type ValueOf,
} from "./session/mod.ts";
export * from "./store/mod.ts";
export { inSlices, nextTask, SharedRuns, TimeSlice, untilAborted } from "./async.ts";
export {
  ANSWER_OPTIONS,
  LOAD_OPTIONS,
  optionHelp,
  OPTIONS,
  SAMPLING_OPTIONS,
  TOKEN_OPTIONS,
  UNUSED_PARAMETERS,
} from "./types/mod.ts";
export type * from "./types/mod.ts";
export { AudioError } from "./audio/mod.ts";
export { languageName } from "./speech/mod.ts";
export { ImageError, usableProjector } from "./vision/mod.ts";
export {
  estimateAhead,
  openModelInProcess,
  openModelInWorker,
  type ProcessOptions,
  serveModelProcess,
  startWorkerAhead,
} from "./worker/mod.ts";
