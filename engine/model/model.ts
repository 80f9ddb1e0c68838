// A model in this process: the GGUF file, its weights on a device of its own, its tokenizer and
// template, and the scheduler that runs its sequences. Closing it gives everything back.

import type { DeviceOptions } from "../../kernels/mod.ts";
import {
  type ChatTemplate,
  createChatTemplate,
  createTokenizer,
  type Tokenizer,
} from "../../tokenizer/mod.ts";
import { checkpoint } from "../cancellation.ts";
import { detectAnswerFormat, renderChat } from "../chat/mod.ts";
import { type GgufFile, readGguf } from "../gguf/mod.ts";
import {
  assemble,
  type Assembly,
  describeModel,
  type ModelDevices,
  openDevices,
} from "../load/mod.ts";
import { memoryUse } from "../memory/mod.ts";
import type { OperationInfo, StepTrace, TapSelection, TapVisit } from "../run/mod.ts";
import {
  encodePrompt,
  findFillInMiddleTokens,
  type PromptItem,
  withWindow,
} from "../prompt/mod.ts";
import {
  chatWithImages,
  countTokensWithImages,
  embedImage,
  generateWithImages,
  type ImageContext,
} from "./image_requests.ts";
import type {
  ChatEvent,
  ChatModel,
  ChatRequest,
  EmbedInput,
  EmbedOptions,
  EmbedRequest,
  EmbedResult,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
  LoadOptions,
  MemoryUse,
  ModelInfo,
  TextToken,
} from "../types.ts";
import { viewAsDecoder, visionWarnings } from "../vision/mod.ts";
import { textToken } from "../generate/mod.ts";
import { embed } from "./embed.ts";

/** A model in this process, with what experiments need beyond {@linkcode ChatModel}. */
export interface Model extends ChatModel {
  /** The vocabulary of the file. */
  readonly tokenizer: Tokenizer;
  /**
   * Logits of every position of `tokens` as a fresh sequence: [tokens, vocabulary].
   * @param tokens ids, and images in between: a position for each of their rows
   * @param options chunkSize: most tokens per step; default as many as fit
   */
  logits(tokens: readonly PromptItem[], options?: { chunkSize?: number }): Promise<Float32Array>;
  /**
   * The same for several sequences, whose rows share steps.
   * @param options prefix: tokens that come before each of them, which are run once
   */
  batchLogits(
    sequences: readonly (readonly PromptItem[])[],
    options?: { chunkSize?: number; prefix?: readonly PromptItem[] },
  ): Promise<Float32Array[]>;
  /** What its steps run, in order; the choice of tokens comes after these. */
  readonly operations: readonly OperationInfo[];
  /**
   * Has `tell` told what each operation of each step takes and does, until the result is disposed of.
   * Meanwhile each operation runs by itself and each step waits for the one before, so that a step
   * takes longer than others do. A `tell` that throws is taken off, and the requests of that step end
   * with {@linkcode TapError}.
   */
  trace(tell: (step: StepTrace) => void): Disposable;
  /**
   * Has `visit` receive what the selected operations write, before the next one runs, until the result
   * is disposed of; what it gives back stands in its place. Taps of one operation come in the order in
   * which they were set. Meanwhile prompts run whole: they take nothing from the prefix cache, and give
   * nothing to it. A tap whose visit fails is taken off, and the requests of that step end with
   * {@linkcode TapError}.
   *
   * @throws RequestError where no such operation writes floats
   */
  tap(selection: TapSelection, visit: TapVisit): Disposable;
}

/** How {@linkcode loadModel} loads. */
export interface LocalLoadOptions extends LoadOptions {
  /** The GPU to use; see {@linkcode DeviceOptions}. */
  device?: DeviceOptions;
  /** What computes the layers that `gpuLayers` leaves. Default: the CPU. */
  beside?: DeviceOptions;
}

/**
 * Loads a GGUF model into the memory of the GPU.
 *
 * @param path a file path or a file: URL
 * @throws GgufError, UnsupportedModelError, TokenizerError, GpuError, GpuMemoryError; the signal's reason
 */
export async function loadModel(
  path: string | URL,
  options: LocalLoadOptions = {},
): Promise<Model> {
  const gguf = viewAsDecoder(await readGguf(path));
  const devices = await openDevices(gguf, options);
  try {
    const create = () => LocalModel.load(gguf, devices, options);
    const model = await devices.placement.top.scoped(`load "${gguf.path}"`, create);
    await model.warmUp(options.signal);
    return model;
  } catch (error) {
    devices[Symbol.dispose]();
    throw error;
  }
}

class LocalModel implements Model {
  readonly info: ModelInfo;
  readonly warnings: readonly string[];
  readonly #context: ImageContext & Assembly;
  readonly #devices: ModelDevices;

  private constructor(
    info: ModelInfo,
    context: ImageContext & Assembly,
    devices: ModelDevices,
    warnings: readonly string[],
  ) {
    this.info = info;
    this.warnings = [...warnings, ...context.tokenizer.warnings];
    this.#context = context;
    this.#devices = devices;
    // A lost device ends what runs on it; whoever wants to go on loads the model afresh.
    devices.lost.then((error) => context.scheduler.close(error));
  }

  static async load(
    gguf: GgufFile,
    devices: ModelDevices,
    options: LocalLoadOptions,
  ): Promise<LocalModel> {
    const own = describeModel(gguf);
    const tokenizer = createTokenizer(gguf.metadata, checkpoint);
    const assembly = await assemble(gguf, own, devices.placement, options);
    const info = { ...own, readsImages: assembly.vision !== undefined };
    const source = templateSource(gguf);
    const template = source === undefined ? undefined : parseTemplate(source, tokenizer);
    const answers = detectAnswerFormat(source);
    const fillInMiddle = findFillInMiddleTokens(gguf.metadata);
    const context = { ...assembly, tokenizer, template, answers, fillInMiddle };
    const warnings = [...options.warnings ?? [], ...info.readsImages ? [] : visionWarnings(gguf)];
    return new LocalModel(info, context, devices, warnings);
  }

  /**
   * Answers a request for nothing: devices clear memory when it is first used, and code is compiled
   * while it runs; the first request of a user shall be as fast as later ones. What fails here fails
   * there too, and is told there. Errors: the signal's reason.
   */
  async warmUp(signal?: AbortSignal): Promise<void> {
    const prompt = "Hello there";
    const options = signal ? { signal } : {};
    try {
      if (this.#context.encoder) await this.embed([prompt], options);
      else {
        const request = { prompt, maxTokens: 2, temperature: 0, ...options };
        for await (const _ of this.generate(request));
      }
    } catch {
      signal?.throwIfAborted();
    }
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

  get contextLength(): number {
    return this.#context.contextLength;
  }

  get memory(): MemoryUse {
    return memoryUse(...this.#devices.all, ...this.#context.vision?.encoder.devices ?? []);
  }

  generate(request: GenerateRequest): AsyncIterable<GenerateEvent> {
    return generateWithImages(withWindow(this.#context, request), request);
  }

  chat(request: ChatRequest): AsyncIterable<ChatEvent> {
    return chatWithImages(withWindow(this.#context, request), request);
  }

  renderChat(request: ChatRequest): Promise<string> {
    return Promise.try(() => renderChat(withWindow(this.#context, request), request));
  }

  countTokens(request: ChatRequest): Promise<number> {
    return Promise.try(() => countTokensWithImages(withWindow(this.#context, request), request));
  }

  tokenize(text: string): Promise<TextToken[]> {
    return Promise.try(() => {
      const { tokenizer } = this.#context;
      const tokens = tokenizer.encode(text, { special: true });
      return Array.from(tokens, (id) => textToken(id, tokenizer));
    });
  }

  async embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]> {
    return (await this.embedWithUsage({ ...options, inputs })).embeddings;
  }

  embedWithUsage(request: EmbedRequest): Promise<EmbedResult> {
    return Promise.try(() => embed(withWindow(this.#context, request), request));
  }

  embedImage(image: Uint8Array | string): Promise<ImageEmbedding> {
    return embedImage(this.#context, image);
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
    // Each has to be a prompt by itself, and with the prefix.
    for (const tokens of sequences) {
      encodePrompt(this.#context, { prompt: [...prefix, ...tokens] });
    }
    return await this.#context.scheduler.evaluate({
      sequences: sequences.map((prompt) => encodePrompt(this.#context, { prompt })),
      prefix,
      output: "logits",
      wanted: "all",
      chunkSize: Math.min(chunkSize ?? Infinity, this.#context.chunkSize),
    });
  }

  async close(): Promise<void> {
    await this.#context.scheduler.close();
    this.#context.vision?.encoder[Symbol.dispose]();
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
