// A model in this process: its weights on a device of its own, its tokenizer and template, and the scheduler
// that runs its sequences. Closing it frees everything.

import type { DeviceOptions } from "../../kernels/mod.ts";
import {
  type ChatTemplate,
  createChatTemplate,
  createTokenizer,
  type Tokenizer,
} from "../../tokenizer/mod.ts";
import { pollCancellation } from "../cancellation.ts";
import { detectAnswerFormat, renderChat } from "../chat/mod.ts";
import { type DeviceFailedError, NotFiniteError, RequestError } from "../errors.ts";
import type { ByteSources, GgufFile } from "../gguf/mod.ts";
import {
  assemble,
  describeModel,
  type ModelDevices,
  mtpWarnings,
  readRankFormat,
} from "../load/mod.ts";
import { memoryUse } from "../memory/mod.ts";
import type { Branch, OperationInfo, StepTrace, TapSelection, TapVisit } from "../run/mod.ts";
import {
  encodePrompt,
  findFillInMiddleTokens,
  type PromptItem,
  type TokenKey,
  withWindow,
} from "../prompt/mod.ts";
import {
  chatWithMedia,
  countTokensWithMedia,
  embedImage,
  generateWithMedia,
  type MediaContext,
} from "./media_requests.ts";
import { transcribeByChat } from "./heard_transcript.ts";
import type {
  CacheState,
  CaptureEvent,
  ChatEvent,
  ChatModel,
  ChatRequest,
  DecideRequest,
  DecideResult,
  DeviceRefusal,
  EmbedInput,
  EmbedOptions,
  EmbedRequest,
  EmbedResult,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
  LoadOptions,
  LoraOptions,
  MemoryUse,
  ModelInfo,
  Occupancy,
  RankRequest,
  RankResult,
  RunRequest,
  RunResult,
  ScoreRequest,
  TextToken,
  TokenizeRequest,
  TokenScore,
  TranscribeEvent,
  TranscribeRequest,
  WindowOptions,
} from "../types/mod.ts";
import type { DeviceFault } from "../tuning/mod.ts";
import { Session, type SessionModel, type SessionOptions } from "../session/mod.ts";
import { visionWarnings } from "../vision/mod.ts";
import { historyOf, textToken } from "../generate/mod.ts";
import { adapterScales, describeAdapters } from "./adapters.ts";
import { decide } from "./decide.ts";
import { embed } from "./embed.ts";
import { rank, type RankContext } from "./rank.ts";
import { generateScored, score } from "./score.ts";
import { captureEvents, runWithHooks } from "./run.ts";

/** A model in this process, with what experiments need beyond {@linkcode ChatModel}. */
export interface Model extends ChatModel, SessionModel {
  /** The vocabulary of the file. */
  readonly tokenizer: Tokenizer;
  /**
   * Logits of every position of `tokens` as a new sequence: [tokens, vocabulary]. Errors:
   * NotFiniteError.
   * @param tokens ids, and images in between: a position for each of their rows
   * @param options chunkSize: most tokens per step; default as many as fit
   */
  logits(tokens: readonly PromptItem[], options?: { chunkSize?: number }): Promise<Float32Array>;
  /**
   * Logits of several sequences, whose rows share steps. Errors: NotFiniteError.
   * @param options prefix: tokens that precede each of them, and are run once
   */
  batchLogits(
    sequences: readonly (readonly PromptItem[])[],
    options?: { chunkSize?: number; prefix?: readonly PromptItem[] },
  ): Promise<Float32Array[]>;
  /** The operations of a step, in order. Sampling comes after these. */
  readonly operations: readonly OperationInfo[];
  /**
   * Traces the model: `tell` receives the time and the work of each operation of each step, until
   * the result is disposed of. Meanwhile each operation runs by itself and each step waits for the
   * one before, so steps take longer. A `tell` that throws is removed, and the requests of that
   * step end with {@linkcode TapError}.
   */
  trace(tell: (step: StepTrace) => void): Disposable;
  /**
   * Taps the model: `visit` receives what the selected operations write, before the next one runs,
   * until the result is disposed of. What `visit` returns replaces the values. Several taps of one
   * operation run in the order in which they were set. Meanwhile prompts run whole: they neither
   * read nor fill the prefix cache. A tap whose visit fails is removed, and the requests of that
   * step end with {@linkcode TapError}.
   *
   * @throws RequestError if no such operation writes floats
   */
  tap(selection: TapSelection, visit: TapVisit): Disposable;
}

/** The options of {@linkcode loadModel}. */
export interface LocalLoadOptions extends LoadOptions {
  /** The device to use; see {@linkcode DeviceOptions}. */
  device?: DeviceOptions;
  /** The device of the layers beyond `gpuLayers`. Default: the CPU. */
  beside?: DeviceOptions;
  /**
   * What opens the files of the model and of its options: {@linkcode filesInMemory}, or any other source
   * of bytes. Default: this machine.
   */
  files?: ByteSources;
}

/** A model in this process. */
export class LocalModel implements Model {
  readonly info: ModelInfo;
  readonly warnings: readonly string[];
  readonly refusal: DeviceRefusal | undefined;
  readonly #context: MediaContext & RankContext;
  readonly #devices: ModelDevices;

  private constructor(
    info: ModelInfo,
    context: MediaContext & RankContext,
    devices: ModelDevices,
    warnings: readonly string[],
    refusal: DeviceRefusal | undefined,
  ) {
    this.info = info;
    this.refusal = refusal;
    this.warnings = [...warnings, ...context.tokenizer.warnings];
    this.#context = context;
    this.#devices = devices;
    // A lost device ends all requests. To go on, the caller has to load the model again.
    devices.lost.then((error) => context.scheduler.close(error));
  }

  static async load(
    gguf: GgufFile,
    devices: ModelDevices,
    options: LocalLoadOptions,
    refusal: DeviceRefusal | undefined,
  ): Promise<LocalModel> {
    const own = describeModel(gguf);
    const tokenizer = createTokenizer(gguf.metadata, pollCancellation);
    const assembly = await assemble(gguf, own, devices.placement, options);
    const adapters = await describeAdapters(options.adapters ?? [], gguf.files);
    const info = {
      ...own,
      readsImages: assembly.vision !== undefined,
      ...assembly.hearing && { hears: true },
      ...adapters.length > 0 && { adapters },
    };
    const source = templateSource(gguf);
    const template = source === undefined ? undefined : parseTemplate(source, tokenizer);
    const answers = detectAnswerFormat(source);
    const fillInMiddle = findFillInMiddleTokens(gguf.metadata);
    const ranking = readRankFormat(gguf.metadata, tokenizer);
    const context = { ...assembly, tokenizer, template, answers, fillInMiddle, ranking };
    const warnings = [
      ...options.warnings ?? [],
      ...info.readsImages ? [] : visionWarnings(gguf),
      ...mtpWarnings(gguf, assembly.config),
    ];
    return new LocalModel(info, context, devices, warnings, refusal);
  }

  /**
   * Runs a small request, so that the user's first request is as fast as later ones: devices clear
   * memory when it is first used, and JavaScript is compiled while it runs. Not on the CPU: there it
   * took 136 ms of a load of 1B, and saved the first request 40. A failure is ignored here, because
   * the first request will fail the same way and report it. Errors: the signal's reason.
   */
  async warmUp(signal?: AbortSignal): Promise<void> {
    if (this.#devices.placement.top.profile.platform.name === "cpu") {
      return signal?.throwIfAborted();
    }
    const prompt = "Hello there";
    const options = signal ? { signal } : {};
    try {
      if (this.#context.encoder) await this.embed([prompt], options);
      else {
        const request = { prompt, maxTokens: 2, temperature: 0, ...options };
        for await (const _ of this.generate(request));
        // It is nobody's conversation.
        historyOf(this.#context.scheduler).clear();
      }
    } catch {
      signal?.throwIfAborted();
    }
  }

  /** What its device computes wrongly of it; nothing where it is not to be proved. */
  faults(): Promise<readonly DeviceFault[]> {
    const { top } = this.#devices.placement;
    return top.scoped(`compare "${top.profile.description}" with the CPU`, this.#context.faults);
  }

  /** Whether its device is one that is compared with the CPU. */
  get isCompared(): boolean {
    return this.#devices.placement.top.identity !== undefined;
  }

  /** Name of the device with the embeddings and the head, and of its driver. */
  get device(): string {
    return this.#devices.placement.top.profile.description;
  }

  /** Warms it up, and tunes the device's kernels from then on, if that is wanted. */
  async begin(signal: AbortSignal | undefined): Promise<this> {
    try {
      await this.warmUp(signal);
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#context.tuning?.start();
    return this;
  }

  get tokenizer(): Tokenizer {
    return this.#context.tokenizer;
  }

  get operations(): readonly OperationInfo[] {
    return this.#context.observer.operations;
  }

  trace(tell: (step: StepTrace) => void): Disposable {
    return this.#context.observer.trace(tell);
  }

  tap(selection: TapSelection, visit: TapVisit): Disposable {
    return this.#context.observer.tap(selection, visit);
  }

  get lost(): Promise<DeviceFailedError> {
    return this.#context.scheduler.lost;
  }

  get contextLength(): number {
    return this.#context.contextLength;
  }

  get memory(): MemoryUse {
    const { vision, hearing } = this.#context;
    return memoryUse(
      ...this.#devices.all,
      ...vision?.encoder.devices ?? [],
      ...hearing?.encoder.devices ?? [],
    );
  }

  get occupancy(): Occupancy {
    return this.#context.scheduler.occupancy;
  }

  generate(request: GenerateRequest): AsyncIterable<GenerateEvent> {
    const context = this.#contextOf(request);
    const { promptLogprobs, ...others } = request;
    if (promptLogprobs === undefined) return generateWithMedia(context, others);
    return generateScored(context, others, promptLogprobs);
  }

  chat(request: ChatRequest): AsyncIterable<ChatEvent> {
    return chatWithMedia(this.#contextOf(request), request);
  }

  session(options?: SessionOptions): Session {
    return new Session(this, options);
  }

  renderChat(request: ChatRequest): Promise<string> {
    return Promise.try(() => renderChat(this.#contextOf(request), request));
  }

  countTokens(request: ChatRequest): Promise<number> {
    return Promise.try(() => countTokensWithMedia(this.#contextOf(request), request));
  }

  tokenize(asked: string | TokenizeRequest): Promise<TextToken[]> {
    return Promise.try(() => {
      const { tokenizer } = this.#context;
      const { text, around = false, special = true }: TokenizeRequest = typeof asked === "string"
        ? { text: asked }
        : asked;
      const tokens = tokenizer.encode(text, { special, bos: around, eos: around });
      return Array.from(tokens, (id) => textToken(id, tokenizer));
    });
  }

  rank(request: RankRequest): Promise<RankResult> {
    return Promise.try(() => rank(this.#contextOf(request), request));
  }

  decide(request: DecideRequest): Promise<DecideResult> {
    return Promise.try(() => decide(this.#contextOf(request), request));
  }

  score(request: ScoreRequest): Promise<TokenScore[][]> {
    return Promise.try(() => score(this.#contextOf(request), request));
  }

  detokenize(tokens: readonly number[]): Promise<string> {
    return Promise.try(() => {
      const { tokenizer } = this.#context;
      const wrong = tokens.find((id) => !(id >= 0 && id < tokenizer.vocabularySize));
      if (wrong === undefined) return tokenizer.decode(tokens, { special: true });
      const range = `the vocabulary has 0 to ${tokenizer.vocabularySize - 1}`;
      throw new RequestError(`Cannot tell the text of token ${wrong}: ${range}`);
    });
  }

  cacheState(): Promise<CacheState> {
    const { scheduler } = this.#context;
    const kept = (keys: readonly TokenKey[]) => scheduler.kept(keys);
    const conversations = historyOf(scheduler).conversations(kept);
    return Promise.resolve({ blockTokens: scheduler.blockSize, conversations });
  }

  async embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]> {
    return (await this.embedWithUsage({ ...options, inputs })).embeddings;
  }

  embedWithUsage(request: EmbedRequest): Promise<EmbedResult> {
    return Promise.try(() => embed(this.#contextOf(request), request));
  }

  run(request: RunRequest): Promise<RunResult> {
    return Promise.try(() => runWithHooks(this.#contextOf(request), request));
  }

  capture(request: RunRequest): AsyncIterable<CaptureEvent> {
    return captureEvents(this.#contextOf(request), request);
  }

  embedImage(image: Uint8Array | string): Promise<ImageEmbedding> {
    return embedImage(this.#context, image);
  }

  transcribe(request: TranscribeRequest): AsyncGenerator<TranscribeEvent> {
    if (this.#context.hearing) return transcribeByChat(this.#contextOf({}), request);
    throw new RequestError(
      "Cannot transcribe speech: this model reads text; use one that has the capability transcription",
    );
  }

  async logits(
    tokens: readonly PromptItem[],
    options?: { chunkSize?: number },
  ): Promise<Float32Array> {
    const [logits] = await this.batchLogits([tokens], options);
    return logits;
  }

  async batchLogits(
    sequences: readonly (readonly PromptItem[])[],
    { chunkSize, prefix = [] }: { chunkSize?: number; prefix?: readonly PromptItem[] } = {},
  ): Promise<Float32Array[]> {
    // Each sequence has to be a valid prompt, alone and after the prefix.
    for (const tokens of sequences) {
      encodePrompt(this.#context, { prompt: [...prefix, ...tokens] });
    }
    const trunk: Branch[] = prefix.length > 0 ? [{ tokens: prefix, wanted: "none" }] : [];
    const after = prefix.length > 0 ? 0 : undefined;
    const all = await this.#context.scheduler.evaluate({
      branches: [
        ...trunk,
        ...sequences.map((prompt): Branch => {
          return { tokens: encodePrompt(this.#context, { prompt }), after, wanted: "all" };
        }),
      ],
      output: "logits",
      chunkSize: Math.min(chunkSize ?? Infinity, this.#context.chunkSize),
      adapters: this.#contextOf({}).adapterScales,
    });
    if (!all.every((logits) => logits.every(Number.isFinite))) throw new NotFiniteError("logits");
    return all.slice(trunk.length);
  }

  /** The context of a request: its window, and its adapters. */
  #contextOf(request: WindowOptions & LoraOptions): MediaContext & RankContext {
    const scales = adapterScales(this.info.adapters ?? [], request);
    return { ...withWindow(this.#context, request), adapterScales: scales };
  }

  async close(): Promise<void> {
    await this.#context.tuning?.stop();
    await this.#context.scheduler.close();
    this.#context.vision?.encoder[Symbol.dispose]();
    this.#context.hearing?.encoder[Symbol.dispose]();
    this.#devices[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function templateSource({ metadata }: GgufFile): string | undefined {
  const source = metadata["tokenizer.chat_template"];
  return typeof source === "string" && source !== "" ? source : undefined;
}

function parseTemplate(source: string, tokenizer: Tokenizer): ChatTemplate {
  const pieceOf = (token: number | undefined) =>
    token === undefined ? undefined : tokenizer.piece(token);
  const [bos, eos] = [pieceOf(tokenizer.bosToken), pieceOf(tokenizer.eosToken)];
  return createChatTemplate(source, {
    ...(bos !== undefined ? { bos } : {}),
    ...(eos !== undefined ? { eos } : {}),
  });
}
