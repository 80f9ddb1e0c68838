// llama.cpp on the CPU: tokens, prompts and logits of a GGUF file. This version tells probabilities, not
// logits: their logarithms are the logits but for one constant per position, which no choice of a token
// depends on.

import { openLlamaCpp } from "../../llama_cpp.ts";

/** A GGUF file in llama.cpp. */
export interface PeerModel extends AsyncDisposable {
  /** Ids of a text, none added; `special`: control tokens in the text become tokens. */
  encode(text: string, options: { special: boolean }): number[];
  /**
   * Logits of each prompt, up to a constant per position: [tokens, vocabulary]. NaN where the
   * probability is below the least normal f32 number, at logits some 87 below the greatest.
   * @param options exact: keep keys and values in F32, and leave out flash attention, which rounds
   *   them to F16
   */
  logits(
    prompts: readonly (readonly number[])[],
    options: { exact: boolean },
  ): Promise<Float32Array[]>;
}

/** llama.cpp itself. */
export interface Peer extends AsyncDisposable {
  /** Release and instructions of the build. */
  readonly build: string;
  /** What its own interpreter of Jinja makes of a chat template. */
  render(template: string, variables: Record<string, unknown>): string;
  load(path: string): Promise<PeerModel>;
}

/** What an evaluated token brings. */
interface Output {
  readonly next: { readonly probabilities: ReadonlyMap<number, number> };
}

/** What is used of a model of the package. */
interface PackageModel {
  tokenize(text: string, special: boolean): number[];
  createContext(options: Record<string, unknown>): Promise<PackageContext>;
  dispose(): Promise<void>;
}

interface PackageContext {
  getSequence(): {
    clearHistory(): Promise<void>;
    controlledEvaluate(tokens: readonly unknown[]): Promise<Output[]>;
  };
  dispose(): Promise<void>;
}

/** Several threads wait for each other in busy loops, which takes minutes on a busy machine. */
const THREADS = 1;

/** Tokens of a context, and of a step. */
const WINDOW = 2048;

const LEAST_NORMAL = 2 ** -126;

/** Loads the package, which brings its own llama.cpp. */
export async function openPeer(): Promise<Peer> {
  const llama = await openLlamaCpp(THREADS);
  // The package itself prefers an interpreter in JavaScript, the one that Quern has too.
  const { AddonJinjaRenderer } = llama._bindings;
  return {
    build: `${llama.llamaCppRelease.release}, ${llama.systemInfo}`,
    render: (template, variables) => new AddonJinjaRenderer(template).render(variables),
    load: async (modelPath) => wrap(await llama.loadModel({ modelPath, gpuLayers: 0 })),
    [Symbol.asyncDispose]: () => llama.dispose(),
  };
}

function wrap(model: PackageModel): PeerModel {
  return {
    encode: (text, { special }) => model.tokenize(text, special),
    async logits(prompts, { exact }) {
      const context = await model.createContext({
        contextSize: WINDOW,
        batchSize: WINDOW,
        threads: THREADS,
        ...exact && {
          flashAttention: false,
          experimentalKvCacheKeyType: "F32",
          experimentalKvCacheValueType: "F32",
        },
      });
      const sequence = context.getSequence();
      const wanted = { generateNext: { probabilities: true } };
      const logits: Float32Array[] = [];
      for (const tokens of prompts) {
        await sequence.clearHistory();
        logits.push(logarithms(
          await sequence.controlledEvaluate(tokens.map((token) => [token, wanted])),
        ));
      }
      await context.dispose();
      return logits;
    },
    [Symbol.asyncDispose]: () => model.dispose(),
  };
}

function logarithms(outputs: readonly Output[]): Float32Array {
  const vocabulary = outputs[0]?.next.probabilities.size ?? 0;
  const logits = new Float32Array(outputs.length * vocabulary);
  outputs.forEach(({ next }, position) => {
    for (const [token, probability] of next.probabilities) {
      const isPrecise = probability >= LEAST_NORMAL;
      logits[position * vocabulary + token] = isPrecise ? Math.log(probability) : NaN;
    }
  });
  return logits;
}
