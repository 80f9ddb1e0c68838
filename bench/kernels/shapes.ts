// The sizes of real models that kernels are measured by.

/** A transformer's sizes. */
export interface ModelShape {
  readonly width: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Of the feed-forward block, or of one expert. */
  readonly inner: number;
  readonly vocabulary: number;
  /** Of a mixture. */
  readonly experts?: { readonly count: number; readonly topK: number };
}

/** By the word that filters name them by: SmolLM2, Llama 3.2, Llama 3.1, Qwen3 30B-A3B. */
export const MODELS: Readonly<Record<string, ModelShape>> = {
  "135m": { width: 576, heads: 9, kvHeads: 3, headDim: 64, inner: 1536, vocabulary: 49_152 },
  "1b": { width: 2048, heads: 32, kvHeads: 8, headDim: 64, inner: 8192, vocabulary: 128_256 },
  "8b": { width: 4096, heads: 32, kvHeads: 8, headDim: 128, inner: 14_336, vocabulary: 128_256 },
  "moe": {
    width: 2048,
    heads: 32,
    kvHeads: 4,
    headDim: 128,
    inner: 768,
    vocabulary: 151_936,
    experts: { count: 128, topK: 8 },
  },
};

/** Positions that attention sees. */
export const CONTEXTS: readonly number[] = [256, 1024, 4096];
