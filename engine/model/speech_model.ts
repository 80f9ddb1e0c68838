// A model that transcribes speech in this process, behind the interface of all models: whatever else it
// is asked, it refuses.

import { createTokenizer, type Tokenizer } from "../../tokenizer/mod.ts";
import { decodeSound } from "../audio/mod.ts";
import { pollCancellation } from "../cancellation.ts";
import { DeviceFailedError, ModelClosedError, RequestError } from "../errors.ts";
import { compileFormat } from "../generate/mod.ts";
import type { GgufFile } from "../gguf/mod.ts";
import { describeModel, type ModelDevices } from "../load/mod.ts";
import { memoryUse } from "../memory/mod.ts";
import {
  MOST_SEQUENCES,
  readSpecialTokens,
  type SpeechContext,
  SpeechNetwork,
  speechOptions,
  transcribe,
} from "../speech/mod.ts";
import {
  type ChatModel,
  type LoadOptions,
  type MemoryUse,
  MODEL_METHODS,
  type ModelInfo,
  type ModelMethod,
  type ModelMethods,
  modelMethods,
  type Occupancy,
  type TranscribeEvent,
  type TranscribeRequest,
} from "../types/mod.ts";

/** What the model does not do, as words behind "Cannot". */
const REFUSALS: Readonly<
  Record<Exclude<ModelMethod, "transcribe" | "tokenize" | "detokenize">, string>
> = {
  generate: "continue a text",
  chat: "chat",
  renderChat: "chat",
  countTokens: "chat",
  rank: "rank",
  decide: "decide",
  score: "score texts",
  embedWithUsage: "make embeddings",
  run: "look into the model",
  capture: "look into the model",
  embedImage: "read images",
  cacheState: "tell what is cached",
};

function refuse(task: string): never {
  throw new RequestError(
    `Cannot ${task}: the model transcribes speech and nothing else; send sounds to ` +
      `/v1/audio/transcriptions, or use another model`,
  );
}

/** Loads a model on open devices. Errors: those of loadModel(). */
export async function loadSpeechModel(
  gguf: GgufFile,
  devices: ModelDevices,
  options: LoadOptions,
): Promise<SpeechModel> {
  const tokenizer = createTokenizer(gguf.metadata, pollCancellation);
  const special = readSpecialTokens(gguf, tokenizer);
  if (options.adapters?.length || options.projector || options.draft) {
    throw new RequestError(
      `Cannot load "${gguf.path}": models that transcribe speech take no adapters, projectors and drafts`,
    );
  }
  const network = await SpeechNetwork.load(gguf, devices.placement, speechOptions(options));
  return new SpeechModel(describeModel(gguf), { network, tokenizer, special }, devices, options);
}

export interface SpeechModel extends ModelMethods {}

/** A model that transcribes. Its methods come from the table of all methods. */
export class SpeechModel implements ChatModel {
  readonly warnings: readonly string[];
  readonly operations = [];
  readonly lost: Promise<DeviceFailedError>;
  readonly #context: SpeechContext;
  readonly #devices: ModelDevices;
  readonly #closing = new AbortController();
  #used = 0;
  /** Settles when the networks are free. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly info: ModelInfo,
    parts: Omit<SpeechContext, "alone">,
    devices: ModelDevices,
    { warnings = [] }: LoadOptions,
  ) {
    this.warnings = [...warnings, ...parts.tokenizer.warnings];
    this.#context = { ...parts, alone: (work) => this.#alone(work) };
    this.#devices = devices;
    this.lost = devices.lost.then((error) => new DeviceFailedError(error));
    Object.assign(
      this,
      modelMethods(<M extends ModelMethod>(method: M, argument: unknown) =>
        this.#ask(method, argument) as never
      ),
    );
  }

  get tokenizer(): Tokenizer {
    return this.#context.tokenizer;
  }

  get contextLength(): number {
    return this.#context.network.sizes.context;
  }

  get memory(): MemoryUse {
    return memoryUse(...this.#devices.all);
  }

  get occupancy(): Occupancy {
    const used = Math.min(1, this.#used);
    return {
      slots: { used, free: 1 - used },
      blocks: { used: used * MOST_SEQUENCES, cached: 0, free: (1 - used) * MOST_SEQUENCES },
    };
  }

  embed(): Promise<never> {
    return Promise.try(() => refuse("make embeddings"));
  }

  logits(): Promise<never> {
    return Promise.try(() => refuse("tell the logits of a text"));
  }

  batchLogits(): Promise<never> {
    return this.logits();
  }

  session(): never {
    return refuse("begin a session");
  }

  trace(): Disposable {
    return refuse("trace the model");
  }

  tap(): Disposable {
    return refuse("tap the model");
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new ModelClosedError("Cannot go on: the model was closed"));
    await this.#last.catch(() => {});
    this.#devices[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #ask(method: ModelMethod, argument: unknown): unknown {
    switch (method) {
      case "transcribe":
        return this.#transcribe(argument as TranscribeRequest);
      case "tokenize":
      case "detokenize":
        return Promise.try(() => refuse("tell the tokens of a text"));
    }
    const task = REFUSALS[method];
    if (MODEL_METHODS[method].gives === "events") refuse(task);
    return Promise.try(() => refuse(task));
  }

  async *#transcribe(
    { audio, format, ...request }: TranscribeRequest,
  ): AsyncGenerator<TranscribeEvent, void> {
    this.#used++;
    try {
      this.#closing.signal.throwIfAborted();
      const { signal } = request;
      const compiled = format && compileFormat(format, this.tokenizer);
      const samples = audio instanceof Float32Array ? audio : await decodeSound(audio, { signal });
      yield* transcribe(this.#context, samples, {
        ...request,
        ...compiled && { matcher: () => compiled.matcher() },
      });
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      throw error;
    } finally {
      this.#used--;
    }
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.catch(() => {}).then(() => {
      this.#closing.signal.throwIfAborted();
      return work();
    });
    this.#last = done;
    return done;
  }
}
