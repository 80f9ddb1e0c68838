// A model without weights: it says what its script says, and remembers what it was asked.
// Used by the tests of the manager, the HTTP layer and the command line.

import { ModelClosedError, RequestError, UnsupportedModelError } from "../../engine/errors.ts";
import type {
  CacheState,
  CaptureEvent,
  ChatEvent,
  ChatModel,
  ChatRequest,
  DecideRequest,
  DecideResult,
  DecisionAnswer,
  DeviceRefusal,
  EmbedInput,
  EmbedOptions,
  EmbedRequest,
  EmbedResult,
  GenerateEvent,
  GenerateRequest,
  ImageEmbedding,
  ModelInfo,
  RankRequest,
  RankResult,
  RunResult,
  TextToken,
  TokenizeRequest,
  TokenScore,
  TranscribeEvent,
  TranscribeRequest,
} from "../../engine/types/mod.ts";

export const fakeInfo: ModelInfo = {
  architecture: "llama",
  parameterCount: 999_885_952,
  quantization: "Q4_K_M",
  trainedContextLength: 8192,
  embeddingLength: 64,
  fileSize: 1000,
  hasChatTemplate: true,
  callsTools: false,
  thinks: false,
  fillsInMiddle: false,
  readsImages: false,
  isEmbeddingModel: false,
};

export const fakeUsage = {
  promptTokens: 11,
  cachedTokens: 4,
  completionTokens: 3,
  promptMilliseconds: 7,
  completionMilliseconds: 20,
};

/** What a model says to a request. */
export type Script = (request: ChatRequest | GenerateRequest) => AsyncIterable<ChatEvent>;

/** A script that says these words, then that it is done. */
export function says(...words: string[]): Script {
  return async function* () {
    yield { type: "start", promptTokens: fakeUsage.promptTokens, cachedTokens: 4 };
    for (const [index, text] of words.entries()) {
      yield { type: "text", text, tokens: [index] } as ChatEvent;
    }
    yield { type: "done", reason: "stop", usage: fakeUsage };
  };
}

/** A script that says a word every few milliseconds until it is aborted, without a `done`. */
export function saysForever(onEnd: () => void = () => {}): Script {
  return async function* ({ signal }) {
    try {
      while (!signal!.aborted) {
        yield { type: "text", text: "word " };
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    } finally {
      onEnd();
    }
  };
}

/** A script that says the words and then fails. */
export function failsAfter(words: string[], error: Error): Script {
  return async function* () {
    for (const text of words) yield { type: "text", text };
    await Promise.resolve();
    throw error;
  };
}

/** What a model makes of inputs. */
export type Embedder = (request: EmbedRequest) => EmbedResult | Promise<EmbedResult>;

/** An embedder whose vectors are [length of the input, 0.1, 0.2], cut to the dimensions. */
export const measures: Embedder = ({ inputs, dimensions }) => ({
  embeddings: inputs.map(({ length }) => Float32Array.of(length, 0.1, 0.2).slice(0, dimensions)),
  promptTokens: inputs.reduce((sum, { length }) => sum + length, 0),
});

/** What a fake model is made of. */
export interface FakeModelOptions {
  script?: Script;
  embedder?: Embedder;
  info?: Partial<ModelInfo>;
  contextLength?: number;
}

/** The model. */
export class FakeModel implements ChatModel {
  readonly info: ModelInfo;
  readonly contextLength: number;
  readonly warnings: readonly string[] = [];
  refusal: DeviceRefusal | undefined;
  readonly memory = { weights: 1000, keyValueCache: 200, scratch: 30 };
  readonly occupancy = {
    slots: { used: 1, free: 3 },
    blocks: { used: 2, cached: 5, free: 9 },
    blockTokens: 32,
    tokens: { running: 40, waiting: 7 },
  };
  readonly requests: { kind: "chat" | "generate"; request: ChatRequest | GenerateRequest }[] = [];
  readonly embedRequests: EmbedRequest[] = [];
  /** Sounds in files are here as their bytes. */
  readonly transcribeRequests: TranscribeRequest[] = [];
  readonly rankRequests: RankRequest[] = [];
  readonly decideRequests: DecideRequest[] = [];
  closed = false;
  script: Script;
  readonly #embedder: Embedder;

  constructor(
    { script = says("Hel", "lo"), embedder = measures, info = {}, contextLength = 4096 }:
      FakeModelOptions = {},
  ) {
    this.info = { ...fakeInfo, ...info };
    this.contextLength = Math.min(contextLength, this.info.trainedContextLength);
    this.script = script;
    this.#embedder = embedder;
  }

  generate(request: GenerateRequest): AsyncIterable<GenerateEvent> {
    this.requests.push({ kind: "generate", request });
    return this.#run(request) as AsyncIterable<GenerateEvent>;
  }

  chat(request: ChatRequest): AsyncIterable<ChatEvent> {
    this.requests.push({ kind: "chat", request });
    return this.#run(request);
  }

  async *#run(request: ChatRequest | GenerateRequest): AsyncGenerator<ChatEvent> {
    for await (const event of this.script(request)) {
      if (this.closed) throw new ModelClosedError("the model was closed");
      yield event;
    }
  }

  renderChat({ messages }: ChatRequest): Promise<string> {
    return Promise.resolve(messages.map(({ role, content }) => `<${role}>${content}`).join(""));
  }

  async countTokens(request: ChatRequest): Promise<number> {
    return (await this.renderChat(request)).length;
  }

  tokenize(asked: string | TokenizeRequest): Promise<TextToken[]> {
    const encoder = new TextEncoder();
    const text = typeof asked === "string" ? asked : asked.text;
    return Promise.resolve(
      Array.from(text, (text, id) => ({ id, text, bytes: [...encoder.encode(text)] })),
    );
  }

  /** A document is as relevant as its share of the query's letters. */
  rank(request: RankRequest): Promise<RankResult> {
    this.rankRequests.push(request);
    const letters = new Set(request.query);
    const scores = request.documents.map((document) => {
      return document.length === 0
        ? 0
        : [...document].filter((letter) => letters.has(letter)).length / document.length;
    });
    return Promise.resolve({ scores, promptTokens: 3 * scores.length });
  }

  /** The first option of each question is twice as likely as each of the others. */
  decide(request: DecideRequest): Promise<DecideResult> {
    this.decideRequests.push(request);
    const answers = request.questions.map((question): DecisionAnswer => {
      const common = { name: question.name ?? null, mass: 0.5 };
      if (question.type === "predicate") {
        return { type: "predicate", ...common, probability: 2 / 3 };
      }
      const share = (i: number, count: number) => (i === 0 ? 2 : 1) / (count + 1);
      if (question.type === "choice") {
        const probabilities = question.choices.map(({ value }, i, { length }) => {
          return { value, probability: share(i, length) };
        });
        const [{ value: choice, probability: confidence }] = probabilities;
        return { type: "choice", ...common, choice, confidence, probabilities };
      }
      const probabilities = question.levels.map(({ label }, value, { length }) => {
        return { label, value, probability: share(value, length) };
      });
      const confidence = probabilities[0].probability;
      return { type: "score", ...common, score: 0.5, confidence, probabilities };
    });
    return Promise.resolve({ answers, promptTokens: 12 });
  }

  /** What it says of its cache. */
  cached: CacheState = { blockTokens: 32, conversations: [] };

  cacheState(): Promise<CacheState> {
    return Promise.resolve(this.cached);
  }

  score(): Promise<TokenScore[][]> {
    return Promise.reject(new UnsupportedModelError("Cannot score texts: the test has no model"));
  }

  detokenize(tokens: readonly number[]): Promise<string> {
    return Promise.resolve(String.fromCodePoint(...tokens));
  }

  async embed(inputs: readonly EmbedInput[], options?: EmbedOptions): Promise<Float32Array[]> {
    return (await this.embedWithUsage({ ...options, inputs })).embeddings;
  }

  async embedWithUsage(request: EmbedRequest): Promise<EmbedResult> {
    this.embedRequests.push(request);
    return await this.#embedder(request);
  }

  run(): Promise<RunResult> {
    const point = { point: "residual.post[1]", shape: [1, 2], positions: [0] };
    return Promise.resolve({
      tokens: [72],
      captured: [{ ...point, values: Float32Array.of(0.5, -1) }],
    });
  }

  async *capture(): AsyncGenerator<CaptureEvent> {
    const { tokens, captured } = await this.run();
    const points = captured.map(({ values: _, ...point }) => point);
    yield { type: "begin", tokens, points };
    for (const [index, one] of captured.entries()) yield { type: "values", index, captured: one };
  }

  embedImage(): Promise<ImageEmbedding> {
    return Promise.reject(new RequestError("Cannot read the image: this model reads text alone"));
  }

  /** Two segments, whatever it hears. */
  async *transcribe(request: TranscribeRequest): AsyncGenerator<TranscribeEvent> {
    const { audio } = request;
    const heard = typeof audio === "string" ? await Deno.readFile(audio) : audio;
    this.transcribeRequests.push({ ...request, audio: heard });
    if (!this.info.transcribes) throw new RequestError("Cannot transcribe speech: it reads text");
    await Promise.resolve();
    const { language = "de" } = request;
    const found = {
      temperature: 0,
      meanLogprob: -0.25,
      compression: 1.5,
      noSpeech: 0.125,
      seek: 0,
    };
    yield { type: "start", duration: 4.5 };
    yield { type: "language", language };
    const said = (start: number, end: number, ...texts: string[]) => ({
      type: "segment" as const,
      start,
      end,
      text: texts.join(""),
      ...request.words && {
        words: texts.map((text, i) => ({
          start: start + i,
          end: i === texts.length - 1 ? end : start + i + 1,
          text,
          probability: 0.5,
        })),
      },
      ...found,
    });
    yield { ...said(0, 1.5, " Good", " day."), tokens: [7, 8] };
    yield { ...said(1.5, 3661.25, " Bye."), tokens: [9] };
    yield { type: "progress", seconds: 4.5 };
    yield { type: "done", tokens: 3 };
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
