// The numbers of a model from its GGUF metadata, under the prefix of its architecture. Some files
// write zero for missing numbers, so zero means "missing" here.

import { GgufError, UnsupportedModelError } from "../errors.ts";
import type { GgufFile, MetadataReader } from "../gguf/mod.ts";
import { layerOf } from "../weights/mod.ts";

/** The attention heads of a layer, as GGUF has them. */
export interface Heads {
  heads: number;
  kvHeads: number;
  headDim: number;
  valueDim: number;
}

/** Typed access to `<architecture>.*`. All methods throw GgufError for a value of another type. */
export class Config {
  constructor(
    readonly metadata: MetadataReader,
    /** Path of the file, for errors. */
    readonly path: string,
    readonly architecture: string,
  ) {}

  /** A required whole number. */
  count(key: string): number {
    return this.metadata.count(this.#key(key));
  }

  /** A required whole number above zero. */
  size(key: string): number {
    const size = this.count(key);
    if (size > 0) return size;
    throw this.error(key, "it is zero");
  }

  /** A whole number above zero, or `fallback`. */
  countOr(key: string, fallback: number): number {
    return this.metadata.optionalCount(this.#key(key), 0) || fallback;
  }

  /** A required number. */
  number(key: string): number {
    return this.metadata.number(this.#key(key));
  }

  /** A number other than zero, or `fallback`. */
  numberOr(key: string, fallback: number): number {
    return this.metadata.optionalNumber(this.#key(key), 0) || fallback;
  }

  /** A number above zero, or `fallback`. */
  positiveOr(key: string, fallback: number): number {
    const value = this.numberOr(key, fallback);
    if (value > 0) return value;
    throw this.error(key, `${value} is not above zero`);
  }

  /** A boolean, or `fallback`. */
  booleanOr(key: string, fallback: boolean): boolean {
    return this.metadata.optionalBoolean(this.#key(key), fallback);
  }

  /** A string, or `fallback`. */
  stringOr(key: string, fallback: string): string {
    return this.metadata.optionalString(this.#key(key), fallback);
  }

  /** An array of numbers, or an empty one. */
  numbers(key: string): readonly number[] {
    return this.metadata.optionalNumbers(this.#key(key), []);
  }

  /**
   * A number or boolean for each layer: an array of them, or one for all; `fallback` if missing. A
   * layer for multi-token prediction that a file's array leaves out is like the last one.
   */
  perLayer(key: string, fallback: number): readonly number[] {
    const values = this.metadata.perLayer(this.#key(key), this.layers, fallback);
    const missing = Math.max(0, this.count("block_count") - values.length);
    return [...values, ...new Array<number>(missing).fill(values.at(-1) ?? fallback)];
  }

  /** A whole number for each layer: an array of them, or one for all; zero if missing. */
  countsPerLayer(key: string): readonly number[] {
    const counts = this.perLayer(key, 0);
    const wrong = counts.find((count) => !Number.isSafeInteger(count) || count < 0);
    if (wrong === undefined) return counts;
    throw this.error(key, `${wrong} is not a whole number`);
  }

  /**
   * Which layers have a sliding window: those that the file lists, or else all except one layer of
   * each `period`: its last, or with `globalFirst` its first.
   */
  slidingLayers(period: number, { globalFirst = false } = {}): readonly boolean[] {
    const key = this.#key("attention.sliding_window_pattern");
    if (this.metadata.isList(key)) {
      return this.metadata.perLayer(key, this.layers, 0).map(Boolean);
    }
    const every = this.metadata.optionalCount(key, 0) || period;
    const rest = globalFirst ? 0 : every - 1;
    return Array.from({ length: this.layers }, (_, i) => every > 1 && i % every !== rest);
  }

  /** Hidden columns of a layer's feed-forward block, 0 if the file does not say. */
  feedForward(layer: number): number {
    return this.countsPerLayer("feed_forward_length")[layer] ?? 0;
  }

  /** The error of a wrong value. */
  error(key: string, state: string): GgufError {
    return new GgufError(this.path, this.#key(key), state);
  }

  /** Number of layers, without those at the end for multi-token prediction. */
  get layers(): number {
    return this.count("block_count") - this.countOr("nextn_predict_layers", 0);
  }

  /** Columns of the residual stream. */
  get width(): number {
    return this.count("embedding_length");
  }

  /**
   * The heads of a layer; `suffix` "_swa" for layers with a sliding window. Errors: GgufError if
   * the numbers do not divide each other, UnsupportedModelError.
   */
  heads(layer = 0, suffix: "" | "_swa" = ""): Heads {
    const heads = this.countsPerLayer("attention.head_count")[layer];
    const kvHeads = this.countsPerLayer("attention.head_count_kv")[layer] || heads;
    if (!heads) throw this.error("attention.head_count", `layer ${layer} has no heads`);
    if (heads % kvHeads !== 0) {
      throw this.error(
        "attention.head_count_kv",
        `${kvHeads} does not divide ${heads} query heads`,
      );
    }
    const sizeOf = (part: string) =>
      this.countOr(`${part}${suffix}`, 0) || this.countOr(part, this.width / heads);
    const headDim = sizeOf("attention.key_length");
    const valueDim = sizeOf("attention.value_length");
    if (!Number.isInteger(headDim)) {
      throw this.error("attention.head_count", `${heads} does not divide ${this.width} columns`);
    }
    if (headDim % 4 !== 0 || valueDim % 4 !== 0) {
      throw new UnsupportedModelError(
        `Cannot load "${this.path}": heads of ${headDim} elements are not supported, only multiples of 4`,
      );
    }
    return { heads, kvHeads, headDim, valueDim };
  }

  /** Most elements of a query head in any layer. */
  get longestHead(): number {
    const lengths = ["key_length", "key_length_swa", "key_length_mla"]
      .map((part) => this.countOr(`attention.${part}`, 0));
    const shares = this.countsPerLayer("attention.head_count").filter(Boolean)
      .map((heads) => this.width / heads);
    return Math.max(...lengths, lengths.some(Boolean) ? 0 : Math.max(0, ...shares));
  }

  /** Epsilon of a kind of norms. Some files of Gemma 3 lack it. */
  epsilon(kind: "rms" | "layer"): number {
    const key = `attention.layer_norm_${kind === "rms" ? "rms_" : ""}epsilon`;
    const epsilon = this.numberOr(key, kind === "rms" ? 1e-6 : 0);
    if (epsilon >= 0 && epsilon < 1) return epsilon;
    throw this.error(key, `${epsilon} is no small number`);
  }

  #key(key: string): string {
    return `${this.architecture}.${key}`;
  }
}

// Checks the number of layers and the width of a model against the tensors of its file, before
// anything is computed from them. Other sizes are checked when a tensor is loaded, against its
// shape (weights/tensor_inventory.ts).

/**
 * Checks the number of layers and the width. Errors: GgufError naming the key that contradicts the
 * tensors.
 */
export function checkLayers({ tensors }: GgufFile, config: Config): void {
  let there = 0;
  for (const name of tensors.keys()) there = Math.max(there, layerOf(name) + 1);
  const declared = config.count("block_count");
  const later = config.countOr("nextn_predict_layers", 0);
  // A file may lack the layers for multi-token prediction.
  if (declared === 0 || declared < there || declared - later > there || later >= declared) {
    const layers = later > 0
      ? `${declared} layers, ${later} of them for later tokens`
      : `${declared}`;
    throw config.error("block_count", `${layers}, but the file has tensors of ${there} layers`);
  }
  const table = "token_embd.weight";
  const width = tensors.get(table)?.shape[0];
  if (config.width === 0 || (width !== undefined && width !== config.width)) {
    const state = `${config.width}, but the rows of "${table}" have ${width ?? "no"} values`;
    throw config.error("embedding_length", state);
  }
}
