// The attention block of a decoder or encoder: projections, norms of queries and keys, rotary
// embedding, attention over the paged cache, output projection. Multi-head latent attention is in
// latent_attention.ts.

import {
  Attention,
  type AttentionOptions,
  type AttentionTiling,
  type FloatRows,
  type HeadShape,
  type LayerCache,
  mostTileRows,
  type Norm,
  partialBytes,
  Rotate,
} from "../../kernels/mod.ts";
import { type Rows, rowsOfEach } from "../rows.ts";
import type { Stack } from "../weights.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";
import type { Rope } from "./rope.ts";

/**
 * How a layer attends. Weights: attn_q, attn_k and attn_v, or attn_qkv; attn_output. Without attn_v
 * the values are the keys as projected.
 */
export interface AttentionConfig extends Omit<AttentionOptions, "scale" | "sinks" | "first"> {
  /** Default 1 / sqrt(headDim). */
  scale?: number;
  /** Missing: no rotation. */
  rope?: Rope | undefined;
  /** Norms attn_q_norm and attn_k_norm: of each head, or of all heads' columns as one vector. */
  queryKeyNorm?: "head" | "row" | undefined;
  /** Kind of these norms; default "rms". `plain`: of each head, without weights. */
  queryKeyNormKind?: "rms" | "layer";
  /** Norms each head of queries and keys without weights, after the rotation. */
  plainNorm?: boolean | undefined;
  /** Whether the norms come after the rotation. */
  normAfterRope?: boolean;
  /** Norms each head of the values without weights. */
  valueNorm?: boolean;
  /** attn_q holds a gate beside each head's query: the result is multiplied by its sigmoid. */
  gated?: boolean;
  /** The cache of another layer, read but not written: the layer has queries only. */
  sharedCache?: LayerCache | undefined;
  /** Multiplies the block's output. */
  gain?: number;
}

/** An attention layer with its weights. */
export class AttentionBlock {
  readonly readers: Stack["readers"];
  /** The layer's keys and values, for layers that share them. */
  readonly cache: LayerCache;
  readonly #network: Network;

  constructor(
    network: Network,
    readonly config: AttentionConfig,
    readonly weights: {
      projection: Stack;
      output: Stack;
      queryNorm?: Norm | undefined;
      keyNorm?: Norm | undefined;
      valueNorm?: Norm | undefined;
      sinks?: GPUBuffer | undefined;
    },
  ) {
    this.#network = network;
    this.readers = weights.projection.readers;
    this.cache = config.sharedCache ?? network.memory.layerCache(config);
  }

  /** y += attention(x), or y += norm(attention(x)). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void {
    this.#network.addLinear(this.#run(x), this.weights.output, y, postNorm);
  }

  /** The heads' results, ready for the output projection. */
  #run(x: Input): Input {
    const { config, weights } = this;
    const network = this.#network;
    const { heads, kvHeads, headDim, valueDim = headDim, sharedCache, gated } = config;
    const rows = network.linear(x, weights.projection, "qkv"); // [rows, q, k and v heads, gates]
    this.#rotateAndStore(rows);
    const options: AttentionOptions = {
      ...config,
      scale: config.scale ?? 1 / Math.sqrt(headDim),
      ...(weights.sinks ? { sinks: weights.sinks } : {}),
    };
    const { output } = weights;
    if (!gated) return attend(network, rows, this.cache, options, output);
    const attended = attend(network, rows, this.cache, options, { readers: [] }).floats!;
    const first = heads * headDim + (sharedCache ? 0 : kvHeads * (headDim + valueDim));
    network.elementwise("sigmoid_gate", { rows: attended }, { x: { rows, first } });
    return network.input(attended, output, "attended");
  }

  #rotateAndStore(rows: FloatRows): void {
    const network = this.#network;
    const { config } = this;
    const { rope, sharedCache } = config;
    const kvHeads = sharedCache ? 0 : config.kvHeads;
    const shape = { ...config, kvHeads };
    if (this.weights.valueNorm && kvHeads > 0) {
      const first = (config.heads + kvHeads) * config.headDim;
      const columns = config.valueDim ?? config.headDim;
      network.normVectors(rows, this.weights.valueNorm, { first, count: kvHeads, columns });
    }
    if (!config.normAfterRope) {
      this.#normHeads(rows, shape);
      rotate(network, rows, sharedCache ? undefined : this.cache, shape, rope);
      return;
    }
    // Queries and keys turn in place, are normed, and only then go to the cache.
    const both = { ...shape, heads: shape.heads + kvHeads, kvHeads: 0 };
    if (rope) rotate(network, rows, undefined, both, rope);
    this.#normHeads(rows, shape);
    if (kvHeads > 0) rotate(network, rows, this.cache, shape, undefined);
  }

  #normHeads(rows: FloatRows, { heads, kvHeads, headDim }: HeadShape): void {
    const { queryNorm, keyNorm } = this.weights;
    const vectors = (first: number, count: number) =>
      this.config.queryKeyNorm === "row" && !this.config.plainNorm
        ? { first, count: 1, columns: count * headDim }
        : { first, count, columns: headDim };
    if (queryNorm) this.#network.normVectors(rows, queryNorm, vectors(0, heads));
    if (keyNorm && kvHeads > 0) {
      this.#network.normVectors(rows, keyNorm, vectors(heads * headDim, kvHeads));
    }
  }
}

/** RoPE on queries in place; keys, rotated, and values into the cache, if there is one to write. */
export function rotate(
  network: Network,
  rows: FloatRows,
  cache: LayerCache | undefined,
  shape: HeadShape & { first?: number; rotaryStart?: number },
  rope: Rope | undefined,
): void {
  if (!rope && !cache) return;
  const operation = new Rotate(network.device, rows, cache, network.state, {
    ...shape,
    rotary: rope?.rotary ?? 0,
    halfPairs: rope?.halfPairs ?? false,
    ...(rope ? network.memory.turns(rope) : {}),
    ...(rope?.sections ? { sections: { ...rope, places: network.state.places } } : {}),
  });
  network.add((pass, step) => operation.encode(pass, step.rows));
}

/** softmax(q k^T * scale) v over the cache: [rows, heads * valueDim], for whoever reads it. */
export function attend(
  network: Network,
  queries: FloatRows,
  cache: LayerCache,
  options: AttentionOptions,
  reader: { readers: Stack["readers"] },
): Input {
  const { device, state, memory } = network;
  const { limits } = network.options;
  network.boundTileRows(mostTileRows(device, options));
  if (options.wholeImages) network.images.areWhole = true;
  const split = device.capabilities.software ? 1024 : 256;
  const maxSplits = Math.ceil(limits.context / split);
  const partials = (label: string, rows: number, splits: number) => {
    const bytes = partialBytes(options, rows, splits);
    return memory.buffer(`${label} partials ${bytes}`, bytes);
  };
  const { heads, headDim, valueDim = headDim } = options;
  return network.produce("attended", heads * valueDim, reader, (y) => {
    // Compiled when first used: a model that never decodes two ways never pays for both.
    const lazily = (tiling: () => AttentionTiling, own = options) => {
      let attention: Attention | undefined;
      return () => attention ??= new Attention(device, queries, cache, state, y, own, tiling());
    };
    const decodePartials = partials("decode", limits.slots, maxSplits);
    const prefillPartials = partials("prefill", limits.rows, 1);
    const decode = lazily(() => ({
      tileRows: 1,
      split,
      maxSplits,
      tiles: state.decodeTiles,
      partials: decodePartials,
    }), { ...options, wholeImages: false }); // a single row sees no more of an image than itself
    const prefill = lazily(() => ({
      tileRows: network.tileRows,
      split: limits.context,
      maxSplits: 1,
      tiles: state.prefillTiles,
      partials: prefillPartials,
    }));
    return (pass, step) => {
      if (step.decodeRows > 0) decode().encode(pass, step.decodeRows, step.decodeContext);
      if (step.prefillTiles > 0) prefill().encode(pass, step.prefillTiles, step.prefillContext);
    };
  });
}

/** Loads an attention layer. Errors: GgufError for a tensor that is missing or of another shape. */
export async function loadAttention(
  layer: LayerWeights,
  config: AttentionConfig,
): Promise<AttentionBlock> {
  const { weights, network } = layer;
  const { heads, headDim, valueDim = headDim, gain, gated } = config;
  const projection = await weights.stack(projectionRows(layer, config), layer.config.width);
  const outputName = layer.has("attn_output.weight") ? "attn_output.weight" : "attn_out.weight";
  const output = await weights.stack([layer.name(outputName)], heads * valueDim, {
    ...(gain === undefined ? {} : { gain }),
  });
  const normOf = (name: string): Norm | undefined => {
    const kind = config.queryKeyNormKind ?? "rms";
    if (config.plainNorm) return { kind, epsilon: layer.config.epsilon(kind) };
    if (!config.queryKeyNorm || !layer.has(`${name}.weight`)) return undefined;
    const [, vectors = 1] = weights.shapeOf(layer.name(`${name}.weight`));
    return { ...layer.norm(name, kind), weightPerVector: vectors > 1 };
  };
  const sinks = layer.has("attn_sinks.weight") ? layer.vector("attn_sinks.weight") : undefined;
  return new AttentionBlock(network, { ...config, gated: gated ?? false }, {
    projection,
    output,
    queryNorm: normOf("attn_q_norm"),
    keyNorm: normOf("attn_k_norm"),
    valueNorm: config.valueNorm ? { kind: "rms", epsilon: layer.config.epsilon("rms") } : undefined,
    sinks,
  });
}

/** Rows of the projection, in the order q, k, v, gates. */
function projectionRows(layer: LayerWeights, config: AttentionConfig): Rows[] {
  const { heads, headDim, gated, sharedCache } = config;
  if (layer.has("attn_qkv.weight")) return [layer.name("attn_qkv.weight")];
  const q = layer.name("attn_q.weight");
  const k = layer.name("attn_k.weight");
  // Without projection of their own, values are the keys as projected.
  const v = layer.has("attn_v.weight") ? layer.name("attn_v.weight") : k;
  const keysAndValues = sharedCache ? [] : [k, v];
  if (!gated) return [q, ...keysAndValues];
  // Each head's rows are its query and then its gate.
  const half = { count: heads, step: 2 * headDim, size: headDim };
  const queries = rowsOfEach(q, { ...half, first: 0 });
  return [queries, ...keysAndValues, rowsOfEach(q, { ...half, first: headDim })];
}
