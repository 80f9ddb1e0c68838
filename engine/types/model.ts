// A loaded model as its users see it, wherever it runs: its facts, its memory, and what it can be asked.

import type { DeviceFailedError } from "../errors.ts";
import type { DeviceFault } from "../tuning/mod.ts";
import type { CacheState } from "./cache.ts";
import type { DecideRequest, DecideResult, RankRequest, RankResult } from "./decisions.ts";
import type { ChatEvent, GenerateEvent, TextToken, TokenScore } from "./events.ts";
import type { CaptureEvent, RunRequest, RunResult } from "./hooks.ts";
import type { TranscribeEvent, TranscribeRequest } from "./speech.ts";
import type {
  ChatRequest,
  EmbedInput,
  EmbedOptions,
  EmbedRequest,
  EmbedResult,
  GenerateRequest,
  ScoreRequest,
  TokenizeRequest,
} from "./requests.ts";

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

/** A LoRA adapter that was loaded beside a model. */
export interface AdapterInfo {
  /** Its number, from 0 on. */
  id: number;
  /** The name that it was given, else that in its file, else that of its file without an ending. */
  name: string;
  /** The path of its file. */
  path: string;
  /** Its factor in requests that name no adapters. */
  scale: number;
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
  /** Number of tokens of its vocabulary; missing where its file has not been read. */
  vocabularySize?: number;
  /** Size of the file. For a split model, of all its files. */
  fileSize: number;
  /** Whether the file has a chat template. */
  hasChatTemplate: boolean;
  /**
   * Whether its template offers tools to the model, and calls in its answers can be parsed.
   * "generic": the template has none, so that a system prompt tells of them.
   */
  callsTools: boolean | "generic";
  /** Whether it thinks before it answers. */
  thinks: boolean;
  /** Whether its vocabulary has the tokens for fill-in-the-middle (`suffix`). */
  fillsInMiddle: boolean;
  /** Whether it reads images: whether its file or its projector's has an encoder. */
  readsImages: boolean;
  /** Whether it hears: whether its projector's file has an audio encoder. Default false. */
  hears?: boolean;
  /** Whether it transcribes speech (`transcribe`), and does nothing else. Default false. */
  transcribes?: boolean;
  /** Whether it is made to rank documents (`rank`): it has a head, or a prompt for that. Default false. */
  ranks?: boolean;
  /** Whether it is made to give vectors (`embed`) instead of text. */
  isEmbeddingModel: boolean;
  /** The adapters of a loaded model. Default: none. */
  adapters?: readonly AdapterInfo[];
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
  /** Tokens of such a block; undefined where that is not known. */
  blockTokens?: number;
  /** Of running sequences, with what they have generated, and of prompts that wait; undefined: unknown. */
  tokens?: { running: number; waiting: number };
}

/** A device on which a model is not run. */
export interface DeviceRefusal {
  /** Its name, and that of its driver. */
  readonly device: string;
  /** What it computed otherwise than the CPU, at least one thing. */
  readonly faults: readonly DeviceFault[];
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
  /** What computes it, with the number of threads and why there is only one, for people. Missing: unknown. */
  readonly device?: string | undefined;
  /** How the model runs differently from what its file expects, for people. */
  readonly warnings: readonly string[];
  /** Settles when its device fails: then every call is refused. Missing: it has none here. */
  readonly lost?: Promise<DeviceFailedError>;
  /** The device that is not used for the model, since it computes it wrongly. Default: none. */
  readonly refusal?: DeviceRefusal | undefined;
  /** Continues a prompt. Errors before the first event: ContextLengthError, RequestError. */
  generate(request: GenerateRequest): AsyncIterable<GenerateEvent>;
  /** Answers a conversation through the model's chat template. */
  chat(request: ChatRequest): AsyncIterable<ChatEvent>;
  /** The text of the prompt that `chat` would run. */
  renderChat(request: ChatRequest): Promise<string>;
  /** The number of the prompt's tokens, as in `chat`'s promptTokens. Errors: those of `chat`. */
  countTokens(request: ChatRequest): Promise<number>;
  /**
   * The tokens of each input, from its first scored one on, with their probabilities. Nothing is
   * sampled: options of sampling do not change them. Errors: ContextLengthError, RequestError,
   * UnsupportedModelError, NotFiniteError.
   */
  score(request: ScoreRequest): Promise<TokenScore[][]>;
  /** The tokens of a text as in a prompt. Errors: RequestError. */
  tokenize(text: string | TokenizeRequest): Promise<TextToken[]>;
  /** The text of tokens, control tokens by their pieces. Errors: RequestError. */
  detokenize(tokens: readonly number[]): Promise<string>;
  /**
   * Answers questions about an input by the probabilities of their options, which add up to 1. No text
   * is generated. An option's probability is that of its tokens after the prompt, without that of going
   * on to a longer option, divided by the sum of all options' (`mass`). Errors: those of `score`,
   * ChatTemplateError.
   */
  decide(request: DecideRequest): Promise<DecideResult>;
  /**
   * Ranks documents by how well they answer a query: by the model's head, by the answer "yes" to the
   * prompt of Qwen3's rerankers, or by a decision of a chat model. Errors: those of `decide`.
   */
  rank(request: RankRequest): Promise<RankResult>;
  /** What its cache holds, by conversation. Of those that it has answered lately. */
  cacheState(): Promise<CacheState>;
  /** One unit vector (L2) per input, in order. Errors: ContextLengthError, RequestError, UnsupportedModelError. */
  embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** Embeddings with the number of tokens. Errors: those of `embed`. */
  embedWithUsage(request: EmbedRequest): Promise<EmbedResult>;
  /**
   * Runs a prompt once, keeps the values of points and changes others. Errors: ContextLengthError,
   * RequestError for points that the model does not have.
   */
  run(request: RunRequest): Promise<RunResult>;
  /**
   * Runs a prompt once, as run() does, and gives the values of points as steps compute them, so that
   * none are kept. Errors: those of run().
   */
  capture(request: RunRequest): AsyncIterable<CaptureEvent>;
  /** The embeddings of an image. Errors: RequestError if the model reads no images, ImageError. */
  embedImage(image: Uint8Array | string): Promise<ImageEmbedding>;
  /**
   * Writes what is said in a sound, segment by segment. Errors: AudioError for a sound that cannot be
   * read; RequestError if the model transcribes no speech.
   */
  transcribe(request: TranscribeRequest): AsyncIterable<TranscribeEvent>;
  /** Ends all requests (ModelClosedError) and frees the memory. */
  close(): Promise<void>;
}
