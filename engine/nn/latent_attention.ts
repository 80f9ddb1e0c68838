// Multi-head latent attention (DeepSeek-V2, 2024): the keys and values of a token are one low-rank
// vector. With attn_k_b and attn_v_b, the up-projections are absorbed into queries and results; the
// KV cache holds that vector and one rotated key part, shared by all heads. Older files with
// attn_kv_b run as ordinary attention over expanded keys and values.

import type {
  AttentionOptions,
  FloatRows,
  Matrix,
  Norm,
  QuantizedRows,
} from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import { type Rows, rowsOfEach, type Stack } from "../weights/mod.ts";
import { attend, rotate } from "./attention.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";
import type { Rope } from "./rope.ts";

/**
 * The options of a layer. Weights: attn_q, or attn_q_a, attn_q_a_norm and attn_q_b; attn_kv_a_mqa,
 * attn_kv_a_norm; attn_k_b and attn_v_b, or attn_kv_b; attn_output.
 */
export interface LatentAttentionConfig {
  /** Missing: no rotation. */
  rope?: Rope | undefined;
  /** Default 1 / sqrt(elements of a head's key). */
  scale?: number;
  temperature?: AttentionOptions["temperature"];
}

/** Sizes of a layer, in elements. */
interface LatentShape {
  heads: number;
  /** Elements of the low-rank vector. */
  rank: number;
  /** Elements of a head's key that are rotated, and elements that are not. */
  rotary: number;
  plain: number;
  /** Elements of a head's value. */
  value: number;
}

/** Weights whose up-projections are absorbed; `latent` gives the low-rank vector and the rotated part. */
interface Absorbed {
  latent: Stack;
  keys: Matrix;
  values: Matrix;
}

/** Weights of older files, with expanded keys and values. */
interface Unfolded {
  compress: Stack;
  rotaryKey: Stack;
  keys: Stack;
  values: Stack;
}

/** A layer with its weights. */
export class LatentAttentionBlock {
  readonly readers: readonly Matrix[];

  constructor(
    readonly network: Network,
    readonly config: LatentAttentionConfig,
    readonly shape: LatentShape,
    readonly weights: {
      lowQuery?: { down: Stack; norm: Norm } | undefined;
      /** The unrotated parts of all heads, and the rotated parts of all heads. */
      query: { plain: Stack; rotary: Stack };
      compressNorm: Norm;
      keyValue: Absorbed | Unfolded;
      output: Stack;
    },
  ) {
    const { lowQuery, query, keyValue } = weights;
    const queries = lowQuery ? [lowQuery.down] : [query.plain, query.rotary];
    const keys = "latent" in keyValue ? [keyValue.latent] : [keyValue.compress, keyValue.rotaryKey];
    this.readers = [...queries, ...keys].flatMap((stack) => stack.readers);
  }

  /** y += attention(x), or y += norm(attention(x)). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void {
    const { network, weights: { output } } = this;
    network.block("attention", () => network.addLinear(this.#run(x), output, y, postNorm));
  }

  #run(x: Input): Input {
    const { network, weights } = this;
    const { lowQuery, query, keyValue } = weights;
    const low = lowQuery && network.linear(x, lowQuery.down, "low query");
    const readers = [query.plain, query.rotary];
    const queryInput = low ? network.norm(low, lowQuery.norm, readers, "low query normed") : x;
    const rotaryQuery = network.linear(queryInput, query.rotary, "rotary query");
    return "latent" in keyValue
      ? this.#absorbed(x, queryInput, rotaryQuery, keyValue)
      : this.#unfolded(x, queryInput, rotaryQuery, keyValue);
  }

  /** Attention with one KV head of rank + rotary elements, whose value is its first part. */
  #absorbed(x: Input, queryInput: Input, rotaryQuery: FloatRows, up: Absorbed): Input {
    const { network, weights, config } = this;
    const { heads, rank, rotary, value } = this.shape;
    const headDim = rank + rotary;
    const { memory } = network;
    const queries = network.scratch("queries", heads * headDim); // [rows, heads, rank and rotary]
    const plain = network.linear(queryInput, weights.query.plain, "plain query");
    const plainInput = network.input(plain, { readers: [up.keys] }, "plain query");
    headLinear(network, up.keys, heads, plainInput, { rows: queries, step: headDim });
    const part = { rows: queries, first: rank, columns: rotary, step: headDim };
    network.elementwise("copy", part, { count: heads, x: { rows: rotaryQuery, step: rotary } });
    const keys = network.linear(x, up.latent, "latent keys"); // [rows, rank and rotary]
    network.normVectors(keys, weights.compressNorm, { first: 0, count: 1, columns: rank });

    const shape = { heads, kvHeads: 1, headDim, valueDim: rank, sharedValues: true };
    const cache = memory.layerCache(shape);
    const rotaryStart = rank;
    rotate(network, queries, undefined, { ...shape, kvHeads: 0, rotaryStart }, config.rope);
    rotate(network, keys, cache, { ...shape, heads: 0, rotaryStart }, config.rope);
    const reader = { readers: [up.values] };
    const attended = attend(network, queries, cache, { ...shape, ...this.#options }, reader);
    const values = network.scratch("latent values", heads * value);
    headLinear(network, up.values, heads, attended, { rows: values, step: value });
    return network.input(values, weights.output, "latent values");
  }

  /**
   * Attention with ordinary heads: each key is its expanded part and the rotated part that all
   * heads share.
   */
  #unfolded(x: Input, queryInput: Input, rotaryQuery: FloatRows, up: Unfolded): Input {
    const { network, weights, config } = this;
    const { heads, rotary, plain, value } = this.shape;
    const compressed = network.linear(x, up.compress, "compressed"); // [rows, rank]
    const rotaryKey = network.linear(x, up.rotaryKey, "rotary key"); // [rows, rotary]
    network.normInto(compressed, compressed, weights.compressNorm);
    const headDim = plain + rotary;
    const keysAt = heads * headDim;
    const rows = network.scratch("qkv", 2 * keysAt + heads * value);
    const input = network.input(compressed, [up.keys, up.values], "compressed");
    const copies = [
      {
        first: 0,
        columns: plain,
        x: network.linear(queryInput, weights.query.plain, "plain query"),
      },
      { first: plain, columns: rotary, x: rotaryQuery },
      { first: keysAt, columns: plain, x: network.linear(input, up.keys, "plain key") },
      { first: keysAt + plain, columns: rotary, x: rotaryKey, step: 0 },
    ];
    for (const { first, columns, x, step = columns } of copies) {
      const part = { rows, first, columns, step: headDim };
      network.elementwise("copy", part, { count: heads, x: { rows: x, step } });
    }
    const values = network.linear(input, up.values, "values");
    network.elementwise("copy", { rows, first: 2 * keysAt }, { x: { rows: values } });

    const shape = { heads, kvHeads: heads, headDim, valueDim: value };
    const cache = network.memory.layerCache(shape);
    rotate(network, rows, cache, { ...shape, rotaryStart: plain }, config.rope);
    return attend(network, rows, cache, { ...shape, ...this.#options }, weights.output);
  }

  get #options(): Pick<AttentionOptions, "scale" | "temperature"> {
    const { scale, temperature } = this.config;
    const { plain, rotary } = this.shape;
    return { scale: scale ?? 1 / Math.sqrt(plain + rotary), temperature };
  }
}

/** Loads a layer. Errors: GgufError, UnsupportedModelError. */
export async function loadLatentAttention(
  layer: LayerWeights,
  config: LatentAttentionConfig,
): Promise<LatentAttentionBlock> {
  const { weights, network, config: { width } } = layer;
  const shape = readShape(layer);
  const { heads, rank, rotary, plain, value } = shape;
  const key = plain + rotary;
  const [upNames, unfoldNames] = [["attn_k_b.weight", "attn_v_b.weight"], ["attn_kv_b.weight"]];
  const absorbed = layer.choose([upNames, unfoldNames]) === upNames;
  if (absorbed && [plain, rank, rank + rotary, value].some((size) => size % 32 !== 0)) {
    throw new UnsupportedModelError(
      `Cannot load "${layer.config.path}": latent attention of ${rank} + ${rotary} elements, keys ` +
        `of ${plain} and values of ${value}: only multiples of 32 are supported`,
    );
  }
  // Some files have the up-projections in both layouts.
  if (absorbed) layer.ignore(/^attn_kv_b\./);
  /** A part of the rows of every head. */
  const part = (tensor: string, first: number, size: number, step: number) =>
    rowsOfEach(layer.name(tensor), { count: heads, step, first, size });
  const low = ["attn_q_a.weight", "attn_q_b.weight", "attn_q_a_norm.weight"];
  const isLow = layer.choose([low, ["attn_q.weight"]]) === low;
  const queryRank = isLow
    ? layer.size(layer.config.countOr("attention.q_lora_rank", 0), [
      ["attn_q_a.weight", 1],
      ["attn_q_b.weight", 0],
      ["attn_q_a_norm.weight", 0],
    ])
    : width;
  const lowQuery = isLow
    ? {
      down: await layer.matrix("attn_q_a.weight", queryRank, width),
      norm: layer.norm("attn_q_a_norm", "rms", { shape: [queryRank] }),
    }
    : undefined;
  const query = isLow ? "attn_q_b.weight" : "attn_q.weight";
  const stack = (rows: Rows, columns: number) => layer.stack([rows], columns);
  const unfold = (first: number, count: number) =>
    stack(part("attn_kv_b.weight", first, count, plain + value), rank);
  const latent = (first: number, count: number) =>
    stack(layer.some("attn_kv_a_mqa.weight", rank + rotary, first, count), width);
  /** A matrix of every head. */
  const perHead = (tensor: string, rows: number, columns: number) =>
    weights.experts({ ...layer.all(tensor, heads * rows), matrices: heads }, columns);
  return new LatentAttentionBlock(network, config, shape, {
    lowQuery,
    query: {
      plain: await stack(part(query, 0, plain, key), queryRank),
      rotary: await stack(part(query, plain, rotary, key), queryRank),
    },
    compressNorm: layer.norm("attn_kv_a_norm", "rms", { shape: [rank] }),
    keyValue: absorbed
      ? {
        latent: await latent(0, rank + rotary),
        keys: await perHead("attn_k_b.weight", rank, plain),
        values: await perHead("attn_v_b.weight", value, rank),
      }
      : {
        compress: await latent(0, rank),
        rotaryKey: await latent(rank, rotary),
        keys: await unfold(0, plain),
        values: await unfold(plain, value),
      },
    output: await layer.matrix("attn_output.weight", width, heads * value),
  });
}

/** Sizes of a layer, from the metadata. Errors: GgufError if one does not fit another. */
function readShape({ config, index }: LayerWeights): LatentShape {
  const heads = config.countsPerLayer("attention.head_count")[index];
  const rank = config.count("attention.kv_lora_rank");
  const rotary = config.count("rope.dimension_count");
  const key = config.countOr("attention.key_length_mla", 0) ||
    config.count("attention.key_length");
  const value = config.countOr("attention.value_length_mla", 0) ||
    config.count("attention.value_length");
  if (rotary === 0 || rotary >= key || rotary % 2 !== 0) {
    const state = `${rotary} of the ${key} elements of a key cannot turn`;
    throw config.error("rope.dimension_count", state);
  }
  for (const [name, size] of Object.entries({ head_count: heads, kv_lora_rank: rank })) {
    if (!size) throw config.error(`attention.${name}`, "it is zero");
  }
  return { heads, rank, rotary, plain: key - rotary, value };
}

/**
 * y[row, head] = x[row, head] W[head]^T.
 * @param matrix [heads * outputs, columns], loaded as experts
 * @param x [rows, heads * columns], `columns` a multiple of 32
 * @param y [rows, heads * step] of which the first `outputs` of every `step` columns are written
 */
function headLinear(
  network: Network,
  matrix: Matrix,
  heads: number,
  x: Input,
  y: { rows: FloatRows; step: number },
): void {
  const { device, memory } = network;
  const { rows } = network.options.limits;
  const chosen = memory.shared(`heads ${heads}`, () => {
    const everyHead = Uint32Array.from({ length: rows * heads }, (_, pair) => pair % heads);
    const ids = memory.constant("heads", everyHead);
    const unused = memory.constant("no weights", new Float32Array(4));
    const routing = { experts: heads, topK: heads, ids, weights: unused, count: unused };
    return device.expertPairs(routing, rows, { every: true });
  });
  network.addRows(chosen);
  const form = network.formOf(x, matrix);
  const vectors = { ...form, columns: matrix.columns, stride: matrix.columns };
  const results = { ...y.rows, columns: y.step, stride: y.step };
  const input = vectors as FloatRows | QuantizedRows;
  network.addRows(
    network.make.expertLinear(matrix, chosen, input, results, { share: 1, vectors: heads }),
  );
}
