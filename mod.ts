/**
 * Quern runs language models from GGUF files in TypeScript alone: on the GPU through WebGPU, or, where
 * there is none, on the CPU.
 * This is the library; run as a program, the same file is the command line and the server.
 *
 * Importing it needs no permissions. Loading a model reads its file and opens the device; nothing
 * else is read, written or asked for.
 *
 * @example Continue a text
 * ```ts
 * import { loadModel } from "@quern/quern";
 *
 * const [path] = Deno.args;
 * if (path) {
 *   await using model = await loadModel(path, { contextLength: 256 });
 *   for await (const event of model.generate({ prompt: "Once upon a time", maxTokens: 20 })) {
 *     if (event.type === "text") console.log(event.text);
 *     if (event.type === "done") console.log(event.reason, event.usage.completionTokens);
 *   }
 * }
 * ```
 *
 * @example Look at a file and its vocabulary, without a GPU
 * ```ts
 * import { inspectModel, loadTokenizer } from "@quern/quern";
 *
 * const [path] = Deno.args;
 * if (path) {
 *   const { architecture, quantization, trainedContextLength } = await inspectModel(path);
 *   console.log(architecture, quantization, trainedContextLength);
 *   const tokenizer = await loadTokenizer(path);
 *   console.log(tokenizer.encode("Hello"), tokenizer.decode(tokenizer.encode("Hello")));
 * }
 * ```
 *
 * @example Run a model from memory, which needs no files: Deno, Node and browsers can
 * ```ts
 * import { filesInMemory, loadModel } from "@quern/quern";
 *
 * const [address] = Deno.args;
 * if (address) {
 *   const bytes = await (await fetch(new URL(address, import.meta.url))).bytes();
 *   const files = filesInMemory({ "model.gguf": bytes });
 *   await using model = await loadModel("model.gguf", { files, contextLength: 256 });
 *   for await (const event of model.chat({ messages: [{ role: "user", content: "Hello!" }] })) {
 *     if (event.type === "text") console.log(event.text);
 *   }
 * }
 * ```
 *
 * @module
 */

import { startWorkerAhead } from "./engine/mod.ts";
import { isServing, restartWithFlags } from "./server/cli/setup/restart.ts";

export {
  AdapterError,
  AnswerError,
  AudioError,
  ChatTemplateError,
  compileGrammar,
  compilePattern,
  compileSchema,
  ContextLengthError,
  DEVICE_KINDS,
  DeviceFailedError,
  DeviceLostError,
  EngineError,
  filesInMemory,
  GgufError,
  GpuError,
  GpuMemoryError,
  GrammarError,
  HostError,
  ImageError,
  inspectModel,
  JsonNumber,
  listKeptFiles,
  loadModel,
  loadTokenizer,
  logitLens,
  makeControlVector,
  measurePerplexity,
  MemoryStore,
  ModelClosedError,
  ModelLostError,
  NotFiniteError,
  openModelInProcess,
  openModelInWorker,
  openSources,
  parseExactJson,
  profileModel,
  readControlVector,
  removeKeptFile,
  RequestError,
  ResourceError,
  SchemaError,
  serveModelProcess,
  Session,
  steer,
  TapError,
  TokenizerError,
  tool,
  Turn,
  UnsupportedModelError,
  ValueBudget,
  WorkerBusyError,
  writeControlVector,
} from "./engine/mod.ts";
export {
  ANSWER_OPTIONS,
  LOAD_OPTIONS,
  OPTIONS,
  SAMPLING_OPTIONS,
  TOKEN_OPTIONS,
} from "./engine/mod.ts";
export type {
  AdapterInfo,
  AdapterSource,
  Answer,
  ApproveCall,
  ArgumentsOf,
  BlockMemory,
  BlockStore,
  BlockStoreOptions,
  BlockViewer,
  ByteSource,
  ByteSources,
  CachedConversation,
  CacheReport,
  CacheState,
  CacheType,
  CacheTypes,
  CallContext,
  CallResult,
  CapturedPoint,
  CaptureEvent,
  ChatEvent,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatTemplateFault,
  ChoiceAnswer,
  ChoiceContext,
  ChoiceOptions,
  ChoiceQuestion,
  CompiledSchema,
  CompileOptions,
  ControlVector,
  ControlVectorMethod,
  DecideRequest,
  DecideResult,
  DecisionAnswer,
  DecisionChoice,
  DecisionLevel,
  DecisionQuestion,
  DecodeOptions,
  DeviceFault,
  DeviceKind,
  DeviceOptions,
  DeviceRefusal,
  DeviceSettings,
  DiskOptions,
  DoneEvent,
  DoneReason,
  EmbedInput,
  EmbedOptions,
  EmbedRequest,
  EmbedResult,
  EncodeOptions,
  FormatOptions,
  GenerateEvent,
  GenerateRequest,
  GivenResult,
  GpuShare,
  Grammar,
  GrammarRules,
  HistoryNode,
  HookChange,
  HookContext,
  HookOptions,
  HookPositions,
  ImageEmbedding,
  JsonGrammar,
  JsonObjectOf,
  JsonSchema,
  JsonType,
  JsonValueOf,
  KeptFile,
  KeptTokens,
  LensPlace,
  LensToken,
  LimitOptions,
  LoadOptions,
  LoadProgress,
  LocalLoadOptions,
  LogitLens,
  LogitLensRequest,
  LogitsProcessor,
  LoopOptions,
  LoraChoice,
  LoraOptions,
  Matcher,
  MemoryUse,
  Model,
  ModelInfo,
  ModelProfile,
  NamedAnswer,
  NamedQuestion,
  Occupancy,
  OperationInfo,
  OperationSum,
  OperationTrace,
  OptionInfo,
  OptionTypes,
  OutputFormat,
  Perplexity,
  PerplexityOptions,
  PhaseProfile,
  PredicateAnswer,
  PredicateQuestion,
  ProcessOptions,
  ProfileOptions,
  ProgressEvent,
  PromptEvent,
  PromptItem,
  PromptMedia,
  ProofOptions,
  QueuedEvent,
  RankRequest,
  RankResult,
  RemoteFile,
  RemoteLoadOptions,
  RemoteShare,
  ReportOptions,
  RequestSession,
  RequestShare,
  RequiredOf,
  RulesInForce,
  RunRequest,
  RunResult,
  SamplingOptions,
  SavedSession,
  Schema,
  SchemaPointer,
  SchemaWarning,
  ScoreAnswer,
  ScoreInput,
  ScoreQuestion,
  ScoreRequest,
  SendOptions,
  SessionCall,
  SessionEvent,
  SessionModel,
  SessionOptions,
  SessionRequest,
  SessionTool,
  SessionTools,
  SourceOptions,
  StandardSchema,
  StartEvent,
  SteeringOptions,
  StepRow,
  StepSpan,
  StepTrace,
  StoredBlock,
  StreamDecoder,
  StreamDecoderOptions,
  StringGrammar,
  SystemMemory,
  TaintedText,
  TapOutput,
  TapSelection,
  TapVisit,
  Text,
  TextPair,
  TextPiece,
  TextToken,
  Tokenizer,
  TokenizeRequest,
  TokenLogprob,
  TokenMask,
  TokenOptions,
  TokenProbability,
  TokenSampler,
  TokenScore,
  Tool,
  ToolCall,
  TranscribeEvent,
  TranscribeRequest,
  TranscriptSegment,
  TranscriptWord,
  TuningOptions,
  TurnWork,
  TypeNameOf,
  Usage,
  Validation,
  ValidationIssue,
  ValueOf,
  WebFile,
  WindowOptions,
  Work,
} from "./engine/mod.ts";

if (import.meta.main) {
  // Before the command line is loaded, which takes as long as the engine.
  restartWithFlags(Deno.args);
  // The thread of the first model loads beside the command line.
  if (isServing(Deno.args)) startWorkerAhead();
  const { main } = await import("./server/mod.ts");
  Deno.exit(await main(Deno.args));
}
