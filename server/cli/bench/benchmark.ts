// Measures a model over the HTTP API: the load, prompts of some lengths, and answers, one at a time and
// several at once. The first round of each kind is not counted, because it warms up caches and drivers.

import { isModelPath, ModelName } from "../../../engine/mod.ts";
import type { Api, OllamaProcess } from "../client/mod.ts";
import { concurrencyOf, decodeRate, generate, prefillRate, type Sample } from "./generation.ts";
import { type BenchReport, type BenchRow, type BenchSettings, spreadOf } from "./types.ts";

/** Tokens of the prompts before answers that are measured. */
const SHORT_PROMPT = 16;
/** Tokens by which a prompt may be longer than intended. */
const MARGIN = 32;
/** How many prompts are tried where answers end early, on servers without `ignore_eos`. */
const MOST_TRIES = 4;
/** The fewest tokens for which a rate is given. */
const LEAST_TOKENS = 8;

/** The step that loads the model. */
export const LOADING = "loading";

/** The parts that a benchmark uses. */
export interface BenchTools {
  api: Api;
  signal: AbortSignal;
  /** Told what is measured now. */
  onStep: (step: string) => void;
  /** Bytes per second that a plain read of the device's memory reaches, where that is known. */
  readBandwidth?: (() => Promise<number>) | undefined;
  /** The name of the device, if the model runs in this process. */
  describeDevice?: (() => Promise<string>) | undefined;
}

/**
 * Runs the benchmark. An error after the model is loaded ends the run; it is the `failure` of the
 * report, which has everything that was measured before.
 *
 * @throws {ApiError} if the server has no such model, or refuses a request
 * @throws {Error} if the model does not generate text
 */
export async function benchmark(settings: BenchSettings, tools: BenchTools): Promise<BenchReport> {
  const { api, onStep } = tools;
  const versions = await api.json("/api/version");
  const version = versions.quern_version ?? versions.version ?? "unknown";
  const { details, weightBytes, drafter } = await askModel(api, settings.model);
  let readRate: number | undefined;
  if (weightBytes !== undefined && tools.readBandwidth) {
    // Before the load, which may leave no memory for it.
    onStep("reading memory");
    readRate = await tools.readBandwidth();
  }
  onStep(LOADING);
  const loaded = await load(settings, tools);
  const run = new Run(settings, tools, loaded.contextLength, settings.draft ?? drafter);
  const failure = await run.all().then(() => undefined, (error: unknown) => error);
  const { rows } = run;
  const single = rows.find(({ test, size }) => test === "decode" && size === 1);
  return {
    model: settings.model,
    details,
    server: { url: api.url, inProcess: api.inProcess, version },
    ...loaded,
    rows,
    ...(single && readRate !== undefined && {
      bandwidth: {
        weightBytesPerSecond: single.tokensPerSecond.median * weightBytes!,
        readBytesPerSecond: readRate,
      },
    }),
    notes: run.notes,
    ...(failure !== undefined && { failure }),
  };
}

/** Loads the model, and returns how much memory and time that takes. */
async function load(
  { model, contextLength, draft }: BenchSettings,
  { api, signal, describeDevice }: BenchTools,
): Promise<Pick<BenchReport, "contextLength" | "device" | "memoryBytes" | "loadMilliseconds">> {
  const before = await askProcess(api, model);
  const options = {
    ...(contextLength !== undefined && { num_ctx: contextLength }),
    ...(draft !== undefined && { draft }),
  };
  const started = performance.now();
  await api.json("/api/generate", { model, prompt: "", stream: false, options }, { signal });
  const milliseconds = performance.now() - started;
  const process = await askProcess(api, model);
  if (!process) {
    throw new Error(`Cannot measure "${model}": the server does not list it among those in memory`);
  }
  // A load with another window is one, too.
  const wasThere = before?.context_length === process.context_length;
  return {
    contextLength: process.context_length,
    device: withSplit(
      await describeDevice?.() ?? (process.size_vram === 0 ? "the CPU" : "a GPU"),
      process,
    ),
    memoryBytes: process.size,
    ...(!wasThere && { loadMilliseconds: milliseconds }),
  };
}

/** A GPU's name, with what of the model is on the CPU beside it. */
function withSplit(device: string, { size, size_vram }: OllamaProcess): string {
  if (size_vram === 0 || size_vram >= size) return device;
  const share = Math.round(100 * (size - size_vram) / size);
  return `${device} with ${share}% of the model on the CPU`;
}

/** The measurements of a model that is loaded. */
class Run {
  readonly rows: BenchRow[] = [];
  readonly notes: string[] = [];
  readonly #settings: BenchSettings;
  readonly #tools: BenchTools;
  /** In tokens. */
  readonly #window: number;
  /** The source of drafts, for people; empty if there is none. */
  readonly #drafter: string;
  readonly #prompts = new PromptSource();

  constructor(settings: BenchSettings, tools: BenchTools, window: number, drafter = "") {
    this.#settings = settings;
    this.#tools = tools;
    this.#window = window;
    this.#drafter = drafter;
  }

  /** @throws {Error} what ends the run; `rows` has what was measured until then */
  async all(): Promise<void> {
    const { promptTokens, parallel, tokens } = this.#settings;
    this.#tools.onStep("warming up");
    await this.#generate(SHORT_PROMPT, 1);
    for (const length of promptTokens) {
      if (this.#fits(length + 1)) this.rows.push(await this.#prefill(length));
      else this.#leaveOut(`prefill of ${length} tokens`, length + 1);
    }
    if (!this.#fits(SHORT_PROMPT + tokens)) {
      this.#leaveOut(`decoding ${tokens} tokens`, SHORT_PROMPT + tokens);
      return;
    }
    for (const count of parallel) {
      const row = await this.#decode(count);
      if (row) this.rows.push(row);
    }
    if (this.#drafter) this.rows.push(await this.#drafts());
  }

  /** Answers with drafts, one at a time. */
  async #drafts(): Promise<BenchRow> {
    this.#tools.onStep("decode with drafts");
    await this.#generate(SHORT_PROMPT, LEAST_TOKENS, true);
    const samples: Sample[] = [];
    for (let i = 0; i < this.#settings.repeat; i++) {
      samples.push(await this.#generate(SHORT_PROMPT, this.#settings.tokens, true));
    }
    const [drafted, accepted] = (["drafted", "accepted"] as const).map((name) =>
      samples.reduce((sum, sample) => sum + sample[name], 0)
    );
    this.notes.push(`drafts of ${this.#drafter}: ${accepted} of ${drafted} tokens came`);
    return {
      test: "drafts",
      size: 1,
      tokensPerSecond: spreadOf(samples.map((sample) => decodeRate([sample]))),
      firstTokenMilliseconds: spreadOf(
        samples.map(({ firstTokenMilliseconds }) => firstTokenMilliseconds),
      ),
    };
  }

  async #prefill(length: number): Promise<BenchRow> {
    this.#tools.onStep(`prefill of ${length} tokens`);
    const samples: Sample[] = [];
    for (let i = -1; i < this.#settings.repeat; i++) {
      const sample = await this.#generate(length, 1);
      if (i >= 0) samples.push(sample);
    }
    return {
      test: "prefill",
      size: length,
      tokensPerSecond: spreadOf(samples.map(prefillRate)),
      firstTokenMilliseconds: spreadOf(
        samples.map(({ firstTokenMilliseconds }) => firstTokenMilliseconds),
      ),
    };
  }

  /** Undefined if the server does not answer this number of requests at a time. */
  async #decode(count: number): Promise<BenchRow | undefined> {
    this.#tools.onStep(count === 1 ? "decode" : `decode of ${count} at a time`);
    await this.#together(count, LEAST_TOKENS);
    const groups: Sample[][] = [];
    for (let i = 0; i < this.#settings.repeat; i++) {
      const group = await this.#together(count, this.#settings.tokens);
      const most = concurrencyOf(group);
      if (most < count) {
        this.notes.push(
          `decode of ${count} at a time is left out: the server takes ${most}; ` +
            `set OLLAMA_NUM_PARALLEL=${count}`,
        );
        return undefined;
      }
      groups.push(group);
    }
    return {
      test: "decode",
      size: count,
      tokensPerSecond: spreadOf(groups.map(decodeRate)),
      firstTokenMilliseconds: spreadOf(
        groups.map((group) =>
          Math.max(...group.map(({ firstTokenMilliseconds }) => firstTokenMilliseconds))
        ),
      ),
    };
  }

  /** A number of answers that are asked for at the same time. */
  async #together(count: number, tokens: number): Promise<Sample[]> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const samples = await Promise.all(
        Array.from({ length: count }, () => this.#generate(SHORT_PROMPT, tokens)),
      );
      const least = Math.min(tokens, LEAST_TOKENS);
      if (samples.every((sample) => sample.tokens >= least)) return samples;
    }
    throw new Error(
      `Cannot measure "${this.#settings.model}": it ends its answers before ${LEAST_TOKENS} tokens`,
    );
  }

  async #generate(promptTokens: number, tokens: number, drafts = false): Promise<Sample> {
    const { api, signal } = this.#tools;
    const { model, contextLength, draft } = this.#settings;
    const prompt = this.#prompts.make(promptTokens);
    const sample = await generate(api, {
      model,
      prompt,
      tokens,
      contextLength,
      draft,
      drafts,
      signal,
    });
    this.#prompts.learn(prompt, sample.promptTokens);
    return sample;
  }

  #fits(tokens: number): boolean {
    return tokens + MARGIN <= this.#window;
  }

  #leaveOut(what: string, tokens: number): void {
    // What was asked for and not given, the model does not have.
    const isMost = (this.#settings.contextLength ?? 0) > this.#window;
    const enough = 1024 * Math.ceil((tokens + MARGIN) / 1024);
    this.notes.push(
      `${what} is left out: the window has ${this.#window} tokens` +
        (isMost ? ", and the model no larger one" : `; try --ctx ${enough}`),
    );
  }
}

/** Facts that can be asked for without loading the model. */
interface ModelFacts {
  details: Record<string, unknown>;
  /** Bytes of its files; undefined if they are not what each token reads, or not known. */
  weightBytes?: number;
  /** The source of its drafts if nobody names a draft model; missing: only earlier text. */
  drafter?: string;
}

/**
 * Asks what a model is.
 *
 * @throws {ApiError} if it is not there
 */
async function askModel(api: Api, model: string): Promise<ModelFacts> {
  const { details, capabilities = [], model_info: info = {}, ...others } = await api.json(
    "/api/show",
    { model },
  );
  if (capabilities.length > 0 && !capabilities.includes("completion")) {
    throw new Error(`Cannot measure "${model}": it does not generate text`);
  }
  const { models } = await api.json("/api/tags");
  const size = models.find(({ name }) => isSame(name, model))?.size ?? await fileSize(model);
  // With experts, only some of the weights are read for a token.
  const hasExperts = Object.entries(info).some(([key, value]) =>
    key.endsWith(".expert_count") && Number(value) > 0
  );
  const isKnown = size !== undefined && size > 0 && !hasExperts && !others.remote_host;
  const { draft_info: draft, tensors = [] } = others;
  const hasHead = tensors.some(({ name }) => name.endsWith(".nextn.eh_proj.weight"));
  const drafter = draft ? "its draft model" : hasHead ? "its head for later tokens" : undefined;
  return {
    details: { ...details },
    ...(isKnown && { weightBytes: size }),
    ...(drafter && { drafter }),
  };
}

/** The details of a model that is named by its path, which no list has. */
async function fileSize(path: string): Promise<number | undefined> {
  const info = isModelPath(path) ? await Deno.stat(path).catch(() => undefined) : undefined;
  return info?.isFile ? info.size : undefined;
}

/** The model in memory, if it is there. */
async function askProcess(api: Api, model: string): Promise<OllamaProcess | undefined> {
  const { models } = await api.json("/api/ps");
  return models.find(({ name }) => isSame(name, model));
}

/** Names leave out what they may, and are the same in any case. */
function isSame(name: string, other: string): boolean {
  if (name === other) return true;
  const [a, b] = [ModelName.tryParse(name), ModelName.tryParse(other)];
  return a !== undefined && b !== undefined && a.key === b.key;
}

const WORDS = (
  "river stone light paper green window market story winter letter garden music table number " +
  "horse city water field night doctor school island bread summer engine mountain picture " +
  "morning silver question forest kitchen captain village machine weather ocean teacher bridge " +
  "corner engineer animal yellow history library minute valley sister travel country flower " +
  "building family harbor planet autumn leather secret copper journey station castle thunder"
).split(" ");

/** Words of the first prompt, before anything is known. */
const FIRST_WORDS = 24;

/** Makes prompts. */
export class PromptSource {
  readonly #random: () => number;
  #tokensPerWord: number | undefined;

  /** @param random as Math.random */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @param tokens about how many; the first prompt is short whatever is asked for */
  make(tokens: number): string {
    const count = this.#tokensPerWord ? tokens / this.#tokensPerWord : FIRST_WORDS;
    const word = () => WORDS[Math.floor(this.#random() * WORDS.length)]!;
    return Array.from({ length: Math.max(1, Math.floor(count)) }, word).join(" ");
  }

  /** Learns how many tokens a prompt had. */
  learn(prompt: string, tokens: number): void {
    if (tokens > 0) this.#tokensPerWord = tokens / prompt.split(" ").length;
  }
}
