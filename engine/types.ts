// The engine's own protocol: the requests and options of a model, the same for the library, the
// worker and every HTTP dialect. Plain data that postMessage can send.

import type { CacheType, CacheTypes } from "../kernels/mod.ts";
import type { BlockStoreOptions } from "./block_store/mod.ts";
import type { WorkerBusyError } from "./errors.ts";
import type { ChatEvent, GenerateEvent, TextToken } from "./event_types.ts";
import type { GrammarRules } from "./grammar/mod.ts";
import type { TuningOptions } from "./tuning/mod.ts";

export type * from "./event_types.ts";

/** How the next token is sampled. Order: penalties, top_k, top_p, min_p, temperature, draw. */
export interface SamplingOptions {
  /** 0 is greedy. Default 0.8. */
  temperature?: number;
  /** Keep the k most likely tokens; 0 keeps all. Default 40. */
  topK?: number;
  /** Keep the smallest set of tokens whose probability reaches p. Default 0.9. */
  topP?: number;
  /** Drop tokens less likely than p times the most likely one. Default 0. */
  minP?: number;
  /** Seed of the draws. The same seed gives the same text. Default: random. */
  seed?: number;
  /** Divides (positive) or multiplies (negative) the logits of recent tokens. Default 1. */
  repeatPenalty?: number;
  /** Number of recent tokens to which penalties apply; -1 means the whole window. Default 64. */
  repeatLastN?: number;
  /** Subtracted once from the logit of each recent token. Default 0. */
  presencePenalty?: number;
  /** Subtracted per occurrence from the logit of each recent token. Default 0. */
  frequencyPenalty?: number;
}

/**
 * The format of an answer, which a token mask enforces. "json": any JSON object. schema: a document
 * of a JSON Schema, given as a value or as JSON text. grammar: GBNF text or rules. pattern: text
 * that an ECMA-262 regular expression matches as a whole.
 */
export type OutputFormat =
  | "json"
  | { schema: unknown }
  | { grammar: string | GrammarRules }
  | { pattern: string };

/** The options of the answer's format. */
export interface FormatOptions {
  /** Default: any text. Errors: SchemaError, GrammarError. */
  format?: OutputFormat;
  /**
   * Whether objects may have keys that the schema does not mention, as in JSON Schema. Default
   * false: only keys that the schema declares or allows are generated. Applies to the arguments of
   * tools, too.
   */
  openObjects?: boolean;
  /**
   * Whether an answer with a format is led to its shortest end before maxTokens or the window would
   * cut it off, so that it is complete. Default true.
   */
  finish?: boolean;
}

/** Load options in requests to models on other servers. */
export interface RemoteLoadOptions {
  /**
   * Layers on that server's GPU. Ignored for models on this machine, where load options determine
   * it.
   */
  gpuLayers?: number;
}

/** The window of a request. */
export interface WindowOptions {
  /** Most tokens of prompt and answer together. Default, and maximum: the model's window. */
  contextLength?: number;
}

/** Limits of one answer. */
export interface LimitOptions extends WindowOptions, RemoteLoadOptions {
  /** Most tokens to generate. Default: until the model ends its answer or the window is full. */
  maxTokens?: number;
  /** Strings that end the answer. They are not part of its text. */
  stop?: string[];
  /**
   * Whether to go on after the model ends its answer, up to the other limits; for measurements.
   * Default false.
   */
  ignoreEnd?: boolean;
  /**
   * Most tokens that are drafted at a time, from earlier text or by a draft model; a step checks all
   * of them at once. Drafts change how fast an answer comes, never what it says. 0: none. With a
   * number, a draft model always drafts so many. Default: as many as have paid off in this answer,
   * but at most 4 of a draft model.
   */
  draftTokens?: number;
  /**
   * Most tokens of thinking in a chat, at least one. Then the mark that ends it is inserted, and
   * the answer follows. Default: unlimited.
   */
  thinkBudget?: number;
  /**
   * Aborting it ends the thinking of a chat, and the answer follows. A worker's client forwards it
   * as a message.
   */
  answerNow?: AbortSignal;
}

/** What an answer reports besides its text. */
export interface ReportOptions {
  /**
   * Number of most likely tokens to report in the place of each token, together with its own
   * log-probability. These are the model's own: before penalties, temperature and format. Default:
   * no report.
   */
  logprobs?: number;
  /**
   * Whether to report, with the log-probabilities, what the format allowed in the place of each
   * token; at least one most likely token is listed. Then each token is sampled, even if only one
   * is possible. Default false.
   */
  masks?: boolean;
  /**
   * Tokens before the prompt: the `context` at the end of an earlier answer. If it is set, even to
   * an empty one, the answer ends with such a context.
   */
  context?: readonly number[];
  /**
   * Whether to report how much of the prompt is read, after each step that reads a part of it.
   * Default false.
   */
  progress?: boolean;
}

/** A prompt to continue. */
export interface GenerateRequest
  extends SamplingOptions, LimitOptions, FormatOptions, ReportOptions {
  /**
   * Text (BOS is added as the vocabulary says, special tokens are parsed), or token ids as they
   * are.
   */
  prompt: string | readonly number[];
  /**
   * Text after the answer: the model fills the gap between the prompt and it. Errors: RequestError
   * if the vocabulary has no tokens for that.
   */
  suffix?: string;
  /** Pictures in the prompt, as bytes of files or their base64, in order. */
  images?: readonly (Uint8Array | string)[];
  /**
   * Aborting it ends the generation within one decode step. A worker's client forwards it as a
   * message.
   */
  signal?: AbortSignal;
}

/** A tool call that the model made. */
export interface ToolCall {
  /** Id that the answer to the call refers to. */
  id?: string;
  /** Name and arguments of the function. */
  function: { name: string; arguments: Record<string, unknown> };
}

/** One turn of a conversation. */
export interface ChatMessage {
  /** The author of the message. */
  role: "system" | "user" | "assistant" | "tool";
  /** The text. */
  content: string;
  /** Pictures in the turn, as bytes of files or their base64, in order. */
  images?: readonly (Uint8Array | string)[];
  /** The thinking of an assistant before its answer. */
  thinking?: string;
  /** Tools that an assistant called. */
  toolCalls?: ToolCall[];
  /** Name of the tool whose answer this is. */
  toolName?: string;
  /** Id of the call whose answer this is. */
  toolCallId?: string;
  /** What `droppedIndexes` calls it if it is left out, such as where it stands in the caller's list. */
  index?: number;
}

/** A tool that the model may call. `parameters` is a JSON Schema, which templates get unchanged. */
export interface Tool {
  /** The only type there is. */
  type: "function";
  /** The function. */
  function: {
    name: string;
    description?: string;
    parameters?: Record<string, unknown>;
    /**
     * Whether to refuse the request if `parameters` cannot be enforced completely. Default false.
     */
    strict?: boolean;
  };
}

/** A conversation to answer. */
export interface ChatRequest extends SamplingOptions, LimitOptions, FormatOptions, ReportOptions {
  /** The conversation so far, the oldest turn first. */
  messages: ChatMessage[];
  /** Tools that the model may call. */
  tools?: Tool[];
  /**
   * Whether calls are possible (auto, the default), required, or excluded; or the tool that must be
   * called.
   */
  toolChoice?: "auto" | "required" | "none" | { name: string };
  /** Whether an answer may call more than one tool. Default true. */
  parallelToolCalls?: boolean;
  /** Whether, and how hard, a thinking model thinks. Templates see it as `enable_thinking`. */
  think?: boolean | "low" | "medium" | "high" | "max";
  /**
   * Whether to drop the oldest turns if the conversation does not fit the window. Default true. If
   * false, that is a ContextLengthError.
   */
  truncate?: boolean;
  /** A template in Ollama's language, instead of the model's own. Errors: RequestError. */
  template?: string;
  /** Aborting it ends the answer within one decode step. */
  signal?: AbortSignal;
}

/** An input to embed: text (the special tokens of the model are added) or token ids as they are. */
export type EmbedInput = string | readonly number[];

/** The options of embeddings. */
export interface EmbedOptions extends WindowOptions, RemoteLoadOptions {
  /**
   * Whether to cut off the end of an input that does not fit the window. Default true. If false,
   * that is a ContextLengthError.
   */
  truncate?: boolean;
  /**
   * Number of elements of each vector to keep, from the first on; the rest is normalized again.
   * Default: all.
   */
  dimensions?: number;
  /** Aborting it ends the call with its reason. */
  signal?: AbortSignal;
}

/** Inputs to embed. */
export interface EmbedRequest extends EmbedOptions {
  /** The inputs, each of which becomes one vector. */
  inputs: readonly EmbedInput[];
}

/** The result of embedding. */
export interface EmbedResult {
  /** One unit vector per input, in order. The memory belongs to the caller. */
  embeddings: Float32Array[];
  /** Tokens of all inputs after cutting, including special tokens. */
  promptTokens: number;
}

/** The embeddings of an image. */
export interface ImageEmbedding {
  /**
   * The rows of all tiles in the order of the prompt: [tokens, width]. The memory belongs to the
   * caller.
   */
  embeddings: Float32Array;
  /** Number of rows. Each takes the place of a token. */
  tokens: number;
}

/** Facts of a model that are known without running it. Sizes in bytes. */
export interface ModelInfo {
  /** `general.architecture`. */
  architecture: string;
  /** Number of weights. */
  parameterCount: number;
  /** GGML name of the file's main type, such as "Q4_K_M". */
  quantization: string;
  /** The window with which the model was trained, in tokens. */
  trainedContextLength: number;
  /** Width of the embeddings. */
  embeddingLength: number;
  /** Size of the file. For a split model, of all its files. */
  fileSize: number;
  /** Whether the file has a chat template. */
  hasChatTemplate: boolean;
  /** Whether its template offers tools to the model, and calls in its answers can be parsed. */
  callsTools: boolean;
  /** Whether it thinks before it answers. */
  thinks: boolean;
  /** Whether its vocabulary has the tokens for fill-in-the-middle (`suffix`). */
  fillsInMiddle: boolean;
  /** Whether it reads images: whether its file or its projector's has an encoder. */
  readsImages: boolean;
  /** Whether it is made to give vectors (`embed`) instead of text. */
  isEmbeddingModel: boolean;
}

/** Progress of a load. */
export interface LoadProgress {
  /** Bytes of weights on the device so far. */
  loaded: number;
  /** Bytes of all weights. */
  total: number;
}

/** Bytes that a loaded model holds on its devices. */
export interface MemoryUse {
  /** The weights. */
  weights: number;
  /** Keys and values of all sequences. */
  keyValueCache: number;
  /** Activations and other buffers. */
  scratch: number;
  /** Bytes of all these that are the system's memory, because the CPU computes there. Default 0. */
  onCpu?: number;
}

/** How much of a loaded model's capacity for sequences is in use. */
export interface Occupancy {
  /** Sequences that can run at the same time. */
  slots: { used: number; free: number };
  /** Blocks of the KV cache: of running sequences, cached for later prompts, and empty. */
  blocks: { used: number; cached: number; free: number };
}

/**
 * A model that answers requests: the interface that the server uses. Implemented in-process, by the
 * worker's client, and for models on other servers.
 */
export interface ChatModel extends AsyncDisposable {
  /** Facts from its file. */
  readonly info: ModelInfo;
  /** Window of this load in tokens: the requested one, but at most the trained one. */
  readonly contextLength: number;
  /** Memory on its devices. */
  readonly memory: MemoryUse;
  /**
   * Use of its slots and KV blocks. For a model in a worker, as of its last message. Undefined:
   * unknown.
   */
  readonly occupancy?: Occupancy | undefined;
  /** How the model runs differently from what its file expects, for people. */
  readonly warnings: readonly string[];
  /** Continues a prompt. Errors before the first event: ContextLengthError, RequestError. */
  generate(request: GenerateRequest): AsyncIterable<GenerateEvent>;
  /** Answers a conversation through the model's chat template. */
  chat(request: ChatRequest): AsyncIterable<ChatEvent>;
  /** The text of the prompt that `chat` would run. */
  renderChat(request: ChatRequest): Promise<string>;
  /** The number of the prompt's tokens, as in `chat`'s promptTokens. Errors: those of `chat`. */
  countTokens(request: ChatRequest): Promise<number>;
  /**
   * The tokens of a text as in a prompt, without special tokens around it. Errors: RequestError.
   */
  tokenize(text: string): Promise<TextToken[]>;
  /** One unit vector (L2) per input, in order. Errors: ContextLengthError, RequestError, UnsupportedModelError. */
  embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** Embeddings with the number of tokens. Errors: those of `embed`. */
  embedWithUsage(request: EmbedRequest): Promise<EmbedResult>;
  /** The embeddings of an image. Errors: RequestError if the model reads no images, ImageError. */
  embedImage(image: Uint8Array | string): Promise<ImageEmbedding>;
  /** Ends all requests (ModelClosedError) and frees the memory. */
  close(): Promise<void>;
}

/** The part of a model on the GPU. The CPU has and computes the rest. */
export interface GpuShare {
  /**
   * Number of layers on the GPU, from the last one on, where the head counts as a layer; 0: none.
   * Default, and below 0: all, or as many as fit if memory is planned. Ignored without a GPU.
   */
  gpuLayers?: number;
  /**
   * For a mixture of experts: number of layers whose experts are on the GPU, too, from the last one
   * on. Default: all.
   */
  gpuExpertLayers?: number;
}

/** The options of a load. */
export interface LoadOptions extends GpuShare {
  /**
   * Window in tokens, at most the trained one. Default: as large as memory allows, at least 8192.
   */
  contextLength?: number;
  /** Most sequences that run at the same time. Default 8; the KV cache is shared by all. */
  maxSequences?: number;
  /**
   * Number of windows for which the KV cache has memory, if there is enough. With more than one,
   * sequences can run side by side and stay cached. Default 2.
   */
  cacheWindows?: number;
  /**
   * Type of keys and values in the KV cache: q8_0 takes about half the memory of f16, q4_0 a
   * quarter. Keys suffer more from few bits than values. Default f16, or f32 with `exact`.
   */
  cacheType?: CacheType | CacheTypes;
  /**
   * Whether to use f32 activations and an f32 KV cache instead of int8 and f16. Slower, but exact.
   */
  exact?: boolean;
  /**
   * Stores for blocks that leave the KV cache, so that they can be restored for prompts that begin
   * like earlier ones.
   */
  blockStore?: BlockStoreOptions;
  /**
   * How the kernels of the device are tuned while the model is idle, and where the results are kept.
   * Default: they are not tuned.
   */
  tuning?: TuningOptions;
  /** LoRA adapters to apply, each with a factor in addition to its own scale; default 1. */
  adapters?: readonly { path: string; scale?: number }[];
  /**
   * Path of the GGUF file of a draft model: a smaller model with the same vocabulary, which drafts the
   * next tokens, so that a step checks several at once. It changes how fast an answer comes, never what
   * it says, and takes memory of its own. Errors: UnsupportedModelError if it does not fit the model.
   */
  draft?: string;
  /**
   * Path of the GGUF file with its image encoder (`mmproj`). Default: the model's own file, if it
   * has one.
   */
  projector?: string;
  /** Fewest rows of an image, for models that leave a choice. Default: the model's. */
  imageMinTokens?: number;
  /** Most rows of an image, for models that leave a choice. Default: the model's. */
  imageMaxTokens?: number;
  /** Most prompt tokens per step. Default: depends on the device. */
  prefillChunk?: number;
  /** The first of the model's warnings, found before the load. */
  warnings?: readonly string[];
  /** Called while weights are copied to the device. */
  onProgress?: (progress: LoadProgress) => void;
  /**
   * Called if a worker does not answer for a while after a request was aborted, or does not close.
   * It is running work that cannot be cancelled.
   */
  onBusy?: (busy: WorkerBusyError) => void;
  /** Aborting it ends the load with its reason. */
  signal?: AbortSignal;
}
