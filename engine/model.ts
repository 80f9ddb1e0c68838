// A model in this process: the GGUF file, its weights on a device of its own, its tokenizer and
// template, and the scheduler that runs its sequences. Closing it gives everything back.

import { BLOCK, type Capabilities, Device, type DeviceOptions } from "../kernels/mod.ts";
import {
  type ChatTemplate,
  createChatTemplate,
  createTokenizer,
  type Tokenizer,
} from "../tokenizer/mod.ts";
import { chat, type ChatContext, renderChat } from "./chat.ts";
import { encodePrompt, generate } from "./generate.ts";
import { type GgufFile, MetadataReader, readGguf, TensorReader } from "./gguf/mod.ts";
import { describeModel } from "./inspect.ts";
import { architectureOf } from "./models/registry.ts";
import { allocateStep, Network } from "./nn/mod.ts";
import { Scheduler } from "./scheduler.ts";
import { StepRunner } from "./step_runner.ts";
import type {
  ChatEvent,
  ChatModel,
  ChatRequest,
  GenerateEvent,
  GenerateRequest,
  LoadOptions,
  MemoryUse,
  ModelInfo,
} from "./types.ts";
import { WeightLoader } from "./weights.ts";

/** A model in this process, with what experiments need beyond {@linkcode ChatModel}. */
export interface Model extends ChatModel {
  /** The vocabulary of the file. */
  readonly tokenizer: Tokenizer;
  /** Logits of every position of `tokens` as a fresh sequence: [tokens, vocabulary]. */
  logits(tokens: readonly number[]): Promise<Float32Array>;
}

/** How {@linkcode loadModel} loads. */
export interface LocalLoadOptions extends LoadOptions {
  /** The GPU to use; see {@linkcode DeviceOptions}. */
  device?: DeviceOptions;
}

const DEFAULT_CONTEXT = 4096;
const DEFAULT_SEQUENCES = 8;

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
  const gguf = await readGguf(path);
  const device = await Device.open(options.device);
  try {
    return await device.scoped(`load "${gguf.path}"`, () => LocalModel.load(gguf, device, options));
  } catch (error) {
    device[Symbol.dispose]();
    throw error;
  }
}

class LocalModel implements Model {
  readonly info: ModelInfo;
  readonly #context: ChatContext;
  readonly #device: Device;

  private constructor(info: ModelInfo, context: ChatContext, device: Device) {
    this.info = info;
    this.#context = context;
    this.#device = device;
    // A lost device ends what runs on it; whoever wants to go on loads the model afresh.
    device.lost.then((error) => context.scheduler.close(error));
  }

  static async load(
    gguf: GgufFile,
    device: Device,
    options: LocalLoadOptions,
  ): Promise<LocalModel> {
    const info = describeModel(gguf);
    const metadata = new MetadataReader(gguf);
    const architecture = architectureOf(info.architecture);
    const tokenizer = createTokenizer(gguf.metadata);
    const context = Math.max(
      4,
      Math.min(options.contextLength ?? DEFAULT_CONTEXT, info.trainedContextLength),
    );
    const slots = options.maxSequences ?? DEFAULT_SEQUENCES;
    const chunk = options.prefillChunk ?? defaultChunk(device.capabilities);
    // Enough for two full windows: more sequences share them as long as they are short.
    const cacheBlocks = 2 * Math.ceil(context / BLOCK) + slots;
    const limits = {
      rows: chunk + slots,
      outputs: Math.max(slots, Math.min(chunk, 32)),
      slots,
      context,
    };
    const state = allocateStep(device, limits);
    const exact = options.exact ?? false;
    const network = new Network(device, state, {
      limits,
      integer: !exact && device.capabilities.packedDot,
      halfCache: !exact,
      cacheBlocks,
    });
    using reader = await TensorReader.open(gguf);
    const weights = new WeightLoader(device, gguf, reader, options);
    const logits = await architecture(network, weights, { metadata, path: gguf.path });
    const model = { logits, vocabulary: logits.columns };
    const runner = new StepRunner(device, network, state, limits, model);
    const scheduler = new Scheduler(runner, cacheBlocks, chunk);
    const template = templateOf(gguf, tokenizer);
    return new LocalModel(info, { scheduler, tokenizer, contextLength: context, template }, device);
  }

  get tokenizer(): Tokenizer {
    return this.#context.tokenizer;
  }

  get contextLength(): number {
    return this.#context.contextLength;
  }

  get memory(): MemoryUse {
    const bytes = (purpose: string) => this.#device.allocated.get(purpose) ?? 0;
    return { weights: bytes("weights"), keyValueCache: bytes("cache"), scratch: bytes("scratch") };
  }

  generate(request: GenerateRequest): AsyncIterable<GenerateEvent> {
    return generate(this.#context, request);
  }

  chat(request: ChatRequest): AsyncIterable<ChatEvent> {
    return chat(this.#context, request);
  }

  renderChat(request: ChatRequest): Promise<string> {
    return Promise.resolve().then(() => renderChat(this.#context, request));
  }

  async logits(tokens: readonly number[]): Promise<Float32Array> {
    const chunks = await this.#context.scheduler.logits(encodePrompt(this.#context, tokens));
    const all = new Float32Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }

  async close(): Promise<void> {
    await this.#context.scheduler.close();
    this.#device[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Prompt tokens per step: on a CPU driver few, so that an abort is seen soon. */
function defaultChunk({ software }: Capabilities): number {
  return software ? 64 : 256;
}

function templateOf(gguf: GgufFile, tokenizer: Tokenizer): ChatTemplate | undefined {
  const source = gguf.metadata["tokenizer.chat_template"];
  if (typeof source !== "string" || source === "") return undefined;
  const pieceOf = (token: number | undefined) =>
    token === undefined ? undefined : tokenizer.piece(token);
  const [bos, eos] = [pieceOf(tokenizer.bosToken), pieceOf(tokenizer.eosToken)];
  return createChatTemplate(source, {
    ...(bos !== undefined ? { bos } : {}),
    ...(eos !== undefined ? { eos } : {}),
  });
}
