// The engine's own protocol: what goes into a model and what comes out, the same for the
// library, the worker and every HTTP dialect. Plain data only: all of it passes postMessage.

import type { CacheType, CacheTypes } from "../kernels/mod.ts";
import type { BlockStoreOptions } from "./block_store/mod.ts";
import type { WorkerBusyError } from "./errors.ts";
import type { ChatEvent, GenerateEvent, TextToken } from "./event_types.ts";
import type { GrammarRules } from "./grammar/mod.ts";

export type * from "./event_types.ts";

/** How the next token is chosen. Order: penalties, top_k, top_p, min_p, temperature, draw. */
export interface SamplingOptions {
  /** 0 is greedy. Default 0.8. */
  temperature?: number;
  /** Keep the k most likely tokens; 0 keeps all. Default 40. */
  topK?: number;
  /** Keep the smallest set of tokens whose probability reaches p. Default 0.9. */
  topP?: number;
  /** Drop tokens less likely than p times the most likely one. Default 0. */
  minP?: number;
  /** Same seed, same text. Default: random. */
  seed?: number;
  /** Divides (positive) or multiplies (negative) the logits of recent tokens. Default 1. */
  repeatPenalty?: number;
  /** How many recent tokens the penalties see; -1 is the whole window. Default 64. */
  repeatLastN?: number;
  /** Subtracted once from the logit of each recent token. Default 0. */
  presencePenalty?: number;
  /** Subtracted per occurrence from the logit of each recent token. Default 0. */
  frequencyPenalty?: number;
}

/**
 * What an answer must be; a mask of tokens sees to it. "json": any JSON object; schema: a document of
 * a JSON Schema, as a value or as JSON text; grammar: GBNF text or rules; pattern: text that an
 * ECMA-262 regular expression matches as a whole.
 */
export type OutputFormat =
  | "json"
  | { schema: unknown }
  | { grammar: string | GrammarRules }
  | { pattern: string };

/** What an answer must be. */
export interface FormatOptions {
  /** Default: any text. Errors: SchemaError, GrammarError. */
  format?: OutputFormat;
  /**
   * Let objects have keys that the schema says nothing of, as JSON Schema has it, also where it declares
   * others. Default false: only those that it declares or allows are begun. Holds for tools too.
   */
  openObjects?: boolean;
  /**
   * Lead an answer of a format to its shortest end before maxTokens or the window cut it off, so that
   * what comes is whole. Default true.
   */
  finish?: boolean;
}

/** What a request says of the machine that runs the model, where that is another server's. */
export interface RemoteLoadOptions {
  /** Layers on its GPU. On this machine the load of the model says that, and this is passed over. */
  gpuLayers?: number;
}

/** A window of its own. */
export interface WindowOptions {
  /**
   * Most tokens that prompt and answer have together, in a model whose window may be larger. Default,
   * and most: the model's window.
   */
  contextLength?: number;
}

/** Limits of one answer. */
export interface LimitOptions extends WindowOptions, RemoteLoadOptions {
  /** Most tokens to generate. Default: until the model ends or the window is full. */
  maxTokens?: number;
  /** Strings that end the answer; no part of them is given out. */
  stop?: string[];
  /** Go on where the model ends, up to the other limits: for measuring. Default false. */
  ignoreEnd?: boolean;
  /**
   * Most tokens that are drafted at a time, from what stood before in the text or by a draft model; a
   * step checks them all at once. They change how fast an answer comes, never what it says. 0: none.
   * With a number, a draft model always drafts so many. Default: as many as have been paying in this
   * answer, of a draft model at most 4.
   */
  draftTokens?: number;
  /**
   * Most tokens of thinking in a chat, at least one: then the mark that ends it is put in, and the answer
   * follows. Default: as many as the model likes.
   */
  thinkBudget?: number;
  /**
   * Aborting it ends the thinking of a chat now, and the answer follows. Not sent to a worker: the client
   * forwards it.
   */
  answerNow?: AbortSignal;
}

/** What an answer tells of itself besides its text. */
export interface ReportOptions {
  /**
   * Give the log-probability of each token, and so many of the likeliest tokens in its place. They are
   * the model's own: before penalties, temperature and format. Default: none.
   */
  logprobs?: number;
  /**
   * Tell beside the log-probabilities what the format allowed in the place of each token, with as many of
   * the likeliest tokens, at least one. Then each token is sampled, also where only one may come. Default
   * false.
   */
  masks?: boolean;
  /**
   * Tokens that come before the prompt: the `context` that an earlier answer ended with. Where it is
   * given, even empty, the answer ends with such a context.
   */
  context?: readonly number[];
  /** Tell how much of the prompt is read, after each step that reads of it. Default false. */
  progress?: boolean;
}

/** A prompt to continue. */
export interface GenerateRequest
  extends SamplingOptions, LimitOptions, FormatOptions, ReportOptions {
  /** Text (BOS is added as the vocabulary says, special tokens are parsed) or token ids, taken as they are. */
  prompt: string | readonly number[];
  /**
   * Text that is to follow the answer: the model fills the gap between the prompt and it. Error:
   * RequestError where the vocabulary has no tokens for that.
   */
  suffix?: string;
  /** Pictures that the prompt shows, as files' bytes or their base64, in order. */
  images?: readonly (Uint8Array | string)[];
  /** Aborting it ends the generation within one decode step. Not sent to a worker: the client forwards it. */
  signal?: AbortSignal;
}

/** A tool call that the model made. */
export interface ToolCall {
  /** Name that the answer to it refers to. */
  id?: string;
  /** What is called. */
  function: { name: string; arguments: Record<string, unknown> };
}

/** One turn of a conversation. */
export interface ChatMessage {
  /** Who speaks. */
  role: "system" | "user" | "assistant" | "tool";
  /** The text. */
  content: string;
  /** Pictures that the turn shows, as files' bytes or their base64, in order. */
  images?: readonly (Uint8Array | string)[];
  /** What an assistant thought before it spoke. */
  thinking?: string;
  /** Tools that an assistant called. */
  toolCalls?: ToolCall[];
  /** The tool whose answer this is. */
  toolName?: string;
  /** The call whose answer this is. */
  toolCallId?: string;
  /** What `droppedIndexes` calls it if it is left out, such as where it stands in the caller's list. */
  index?: number;
}

/** A tool offered to the model; `parameters` is a JSON Schema, passed to the template untouched. */
export interface Tool {
  /** The only kind there is. */
  type: "function";
  /** What is offered. */
  function: {
    name: string;
    description?: string;
    parameters?: Record<string, unknown>;
    /** Refuse the request where `parameters` cannot be enforced as a whole. Default false. */
    strict?: boolean;
  };
}

/** A conversation to answer. */
export interface ChatRequest extends SamplingOptions, LimitOptions, FormatOptions, ReportOptions {
  /** The conversation so far, the oldest turn first. */
  messages: ChatMessage[];
  /** Tools that the model may call. */
  tools?: Tool[];
  /** Whether calls may come (auto, the default), must, or must not; or which tool must be called. */
  toolChoice?: "auto" | "required" | "none" | { name: string };
  /** Whether an answer may call more than one tool. Default true. */
  parallelToolCalls?: boolean;
  /** Whether a thinking model thinks; templates see it as `enable_thinking`. */
  think?: boolean | "low" | "medium" | "high" | "max";
  /** Drop the oldest turns that do not fit the window. Default true; false raises ContextLengthError. */
  truncate?: boolean;
  /** A template of Ollama, in the language of Go's, in place of the model's own. Error: RequestError. */
  template?: string;
  /** Aborting it ends the answer within one decode step. */
  signal?: AbortSignal;
}

/** What becomes a vector: text (with the special tokens that the model wants) or token ids as they are. */
export type EmbedInput = string | readonly number[];

/** How inputs become vectors. */
export interface EmbedOptions extends WindowOptions, RemoteLoadOptions {
  /** Cut off the end of an input that does not fit the window. Default true; false raises ContextLengthError. */
  truncate?: boolean;
  /** Keep the first so many elements of each vector, normalized again. Default: all there are. */
  dimensions?: number;
  /** Aborting it ends the call with its reason. */
  signal?: AbortSignal;
}

/** Inputs to embed. */
export interface EmbedRequest extends EmbedOptions {
  /** One vector each. */
  inputs: readonly EmbedInput[];
}

/** What an embedding gives. */
export interface EmbedResult {
  /** One unit vector per input, in order, in memory that is the caller's. */
  embeddings: Float32Array[];
  /** Tokens of all inputs, after cutting, special tokens included. */
  promptTokens: number;
}

/** What a model reads of an image, whose file's bytes or base64 were given. */
export interface ImageEmbedding {
  /** [tokens, width]: of all tiles in the order of the prompt, in memory that is the caller's. */
  embeddings: Float32Array;
  /** Rows; each takes the place of a token. */
  tokens: number;
}

/** What is known of a model without running it. Sizes in bytes. */
export interface ModelInfo {
  /** `general.architecture`. */
  architecture: string;
  /** Number of weights. */
  parameterCount: number;
  /** GGML name of the file's main type, such as "Q4_K_M". */
  quantization: string;
  /** Window the model was trained for. */
  trainedContextLength: number;
  /** Width of the embeddings. */
  embeddingLength: number;
  /** Size of the file; of a split model, of all its files. */
  fileSize: number;
  /** Whether the file carries a chat template. */
  hasChatTemplate: boolean;
  /** Whether its template offers tools to the model, and its answers' calls are understood. */
  callsTools: boolean;
  /** Whether it thinks before it answers. */
  thinks: boolean;
  /** Whether its vocabulary has the tokens for filling a gap in a text (`suffix`). */
  fillsInMiddle: boolean;
  /** Whether it reads images: it has an encoder for them, in its own file or its projector's. */
  readsImages: boolean;
  /** Whether it is made to give vectors (`embed`) and no text. */
  isEmbeddingModel: boolean;
}

/** Progress of a load: bytes of weights on the GPU so far. */
export interface LoadProgress {
  /** Bytes on the GPU. */
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
  /** Activations and the like. */
  scratch: number;
  /** Bytes of all of it that are the system's memory, because the CPU computes there. Default 0. */
  onCpu?: number;
}

/** What of a loaded model's room for sequences is taken. */
export interface Occupancy {
  /** Sequences that can run at the same time. */
  slots: { used: number; free: number };
  /** Blocks of the KV cache: of running sequences, kept for prompts that begin alike, and empty. */
  blocks: { used: number; cached: number; free: number };
}

/** A model that answers; what the server needs of it. Implemented in-process and by the worker's client. */
export interface ChatModel extends AsyncDisposable {
  /** What its file says of it. */
  readonly info: ModelInfo;
  /** Window of this load in tokens: what was asked for, at most what was trained. */
  readonly contextLength: number;
  /** What it holds on the GPU. */
  readonly memory: MemoryUse;
  /** What is taken of its slots and KV blocks; of a model in a worker as of its last message. Undefined: unknown. */
  readonly occupancy?: Occupancy | undefined;
  /** What of its file is run in another way than it may expect, for people. */
  readonly warnings: readonly string[];
  /** Continues a prompt. Errors before the first event: ContextLengthError, RequestError. */
  generate(request: GenerateRequest): AsyncIterable<GenerateEvent>;
  /** Answers a conversation through the model's chat template. */
  chat(request: ChatRequest): AsyncIterable<ChatEvent>;
  /** The prompt text that `chat` would run. */
  renderChat(request: ChatRequest): Promise<string>;
  /** The number of its tokens: what `chat` would count as promptTokens. Errors as of `chat`. */
  countTokens(request: ChatRequest): Promise<number>;
  /** The tokens of a text as a prompt has them, without any that the vocabulary puts around. Errors: RequestError. */
  tokenize(text: string): Promise<TextToken[]>;
  /** One unit vector (L2) per input, in order. Errors: ContextLengthError, RequestError, UnsupportedModelError. */
  embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** The same, with the count of tokens. */
  embedWithUsage(request: EmbedRequest): Promise<EmbedResult>;
  /** What the model reads of an image. Errors: RequestError where it reads none, ImageError. */
  embedImage(image: Uint8Array | string): Promise<ImageEmbedding>;
  /** Ends what runs (ModelClosedError) and frees the GPU memory. */
  close(): Promise<void>;
}

/** How much of a model is on the GPU; the CPU has and computes the rest. */
export interface GpuShare {
  /**
   * Layers on the GPU, the last ones, the head counted as one; 0: none. Default, and below 0: all, or where
   * memory is planned as many as fit. Without a GPU it says nothing.
   */
  gpuLayers?: number;
  /** Of a mixture of experts, layers whose experts are on the GPU too, the last ones. Default: all. */
  gpuExpertLayers?: number;
}

/** How a model is loaded. */
export interface LoadOptions extends GpuShare {
  /** Window in tokens; default as much as memory allows, at least 8192. At most the trained one. */
  contextLength?: number;
  /** Most sequences that run at the same time. Default 8; the KV cache is shared by all. */
  maxSequences?: number;
  /**
   * Windows that the KV cache has room for, as far as memory allows: with more than one, sequences run
   * side by side and are remembered. Default 2.
   */
  cacheWindows?: number;
  /**
   * What keys and values are in the KV cache: q8_0 takes about half the memory of f16, q4_0 a quarter.
   * Keys suffer more from few bits than values. Default f16, or f32 where `exact` is wanted.
   */
  cacheType?: CacheType | CacheTypes;
  /** Float activations and an f32 KV cache instead of int8 activations and f16. Slower, exact. */
  exact?: boolean;
  /** Keeps what leaves the KV cache, so that it comes back for prompts that begin like earlier ones. */
  blockStore?: BlockStoreOptions;
  /** LoRA adapters to apply, each with a factor on its own scale; default 1. */
  adapters?: readonly { path: string; scale?: number }[];
  /**
   * Path of the GGUF file of a draft model: a smaller model with the same vocabulary, which guesses the
   * next tokens, so that a step checks several at once. It changes how fast an answer comes, never what
   * it says, and takes memory of its own. Error: UnsupportedModelError where it cannot.
   */
  draft?: string;
  /** Path of the GGUF file with its image encoder (`mmproj`). Default: its own file, if it has that. */
  projector?: string;
  /** Fewest rows that an image becomes, where the model leaves a choice. Default: the model's. */
  imageMinTokens?: number;
  /** Most rows that an image becomes, where the model leaves a choice. Default: the model's. */
  imageMaxTokens?: number;
  /** Most prompt tokens per step. Default by the device. */
  prefillChunk?: number;
  /** What the model's warnings begin with: what was found out before it is loaded. */
  warnings?: readonly string[];
  /** Called as weights arrive on the GPU. */
  onProgress?: (progress: LoadProgress) => void;
  /**
   * Called when a worker is in the midst of work that it cannot be called off from: it has not answered
   * for a while after a request was aborted, or at the end of the model's life.
   */
  onBusy?: (busy: WorkerBusyError) => void;
  /** Aborting it ends the load with its reason. */
  signal?: AbortSignal;
}
