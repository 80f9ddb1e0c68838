// The attention block of a decoder or encoder: projections, norms of queries and keys, rotary
// embedding, attention over the paged cache, output projection. Multi-head latent attention is in
// latent_attention.ts.

import {
  type AttentionOptions,
  type AttentionTiling,
  attentionWork,
  type Buffer,
  type FloatRows,
  floatRows,
  type HeadNorms,
  type HeadShape,
  type LayerCache,
  MOST_SPLITS,
  type Norm,
  partialBytes,
  type RotateOptions,
  sumWork,
} from "../../kernels/mod.ts";
import { baseOf, type Rows, rowsOfEach, type Stack } from "../weights/mod.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";
import type { Rope } from "./rope.ts";
import { type OpenKeys, overRows } from "./step.ts";

/**
 * The options of a layer. Weights: attn_q, attn_k and attn_v, or attn_qkv; attn_output; attn_sinks.
 */
export interface AttentionConfig extends Omit<AttentionOptions, "scale" | "sinks" | "first"> {
  /** Default 1 / sqrt(headDim). */
  scale?: number;
  /** Missing: no rotation. */
  rope?: Rope | undefined;
  /** Norms attn_q_norm and attn_k_norm: of each head, or of all heads' columns as one vector. */
  queryKeyNorm?: "head" | "row" | undefined;
  /** Whether only some models of the architecture have these norms. */
  queryKeyNormOptional?: boolean;
  /** Whether every head has weights of its own in these norms. */
  queryKeyNormPerHead?: boolean;
  /** Kind of these norms. Default "rms". */
  queryKeyNormKind?: "rms" | "layer";
  /** Whether each head of queries and keys is normed without weights, after the rotation. */
  plainNorm?: boolean | undefined;
  /** Whether the norms come after the rotation. */
  normAfterRope?: boolean;
  /** Whether each head of the values is normed without weights. */
  valueNorm?: boolean;
  /**
   * Whether attn_q holds a gate beside each head's query. The result is multiplied by its sigmoid.
   */
  gated?: boolean;
  /** The cache of another layer, for layers that only have queries: it is read but not written. */
  sharedCache?: LayerCache | undefined;
  /**
   * Which biases the architecture always has: those of queries, keys and values ("qkv"), or also
   * that of the output ("all"). "together": all of them or none. Default: those of queries, keys
   * and values are optional, and so is that of the output.
   */
  biases?: "qkv" | "all" | "together";
  /**
   * If set, layers without attn_v take the projected keys as values. The string names the kind of
   * layers; either all layers of a kind have attn_v, or none.
   */
  keysAsValues?: string | undefined;
  /** Whether the layer has attn_sinks. */
  sinks?: boolean;
  /** Multiplies the block's output. */
  gain?: number;
}

/** An attention layer with its weights. */
export class AttentionBlock {
  readonly readers: Stack["readers"];
  /** The layer's KV cache, for layers that share it. */
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
      sinks?: Buffer | undefined;
    },
  ) {
    this.#network = network;
    this.readers = weights.projection.readers;
    const { memory } = network;
    // Without a causal mask a sequence runs in one step, so that nothing is kept for a later one.
    this.cache = config.sharedCache ??
      (config.causal === false ? memory.stepCache(config) : memory.layerCache(config));
  }

  /** y += attention(x), or y += norm(attention(x)). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void {
    const network = this.#network;
    const { output } = this.weights;
    network.block("attention", () => network.addLinear(this.#run(x), output, y, postNorm));
  }

  /** The heads' results, in the form that the output projection reads. */
  #run(x: Input): Input {
    const { config, weights } = this;
    const network = this.#network;
    const { heads, kvHeads, headDim, valueDim = headDim, sharedCache, gated } = config;
    const rows = network.linear(x, weights.projection, "qkv"); // [rows, q, k and v heads, gates]
    this.#rotateAndStore(rows);
    const { sinks: _, ...shape } = config;
    const options: AttentionOptions = {
      ...shape,
      scale: config.scale ?? 1 / Math.sqrt(headDim),
      ...(weights.sinks ? { sinks: weights.sinks } : {}),
    };
    const { output } = weights;
    // A cache stays on the device of its layer, so layers that share it attend on that device.
    const device = network.memory.deviceOf(this.cache);
    const isAway = device !== network.device;
    if (!gated && !isAway) return attend(network, rows, this.cache, options, output);
    const attended = network.on(
      device,
      () => attend(network, rows, this.cache, options, { readers: [] }).floats!,
    );
    if (gated) {
      const first = heads * headDim + (sharedCache ? 0 : kvHeads * (headDim + valueDim));
      network.elementwise("sigmoid_gate", { rows: attended }, { x: { rows, first } });
    }
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
      const norms = this.#headNorms();
      if (!norms) this.#normHeads(rows, shape);
      rotate(network, rows, sharedCache ? undefined : this.cache, { ...shape, norms }, rope);
      return;
    }
    // Queries and keys are rotated in place, then normed, and only then written to the cache.
    const both = { ...shape, heads: shape.heads + kvHeads, kvHeads: 0 };
    if (rope) rotate(network, rows, undefined, both, rope);
    this.#normHeads(rows, shape);
    if (kvHeads > 0) rotate(network, rows, this.cache, shape, undefined);
  }

  /** The norms that the rotation takes along: of each head, without biases. */
  #headNorms(): HeadNorms | undefined {
    const { config: { queryKeyNorm, plainNorm }, weights: { queryNorm, keyNorm } } = this;
    const fits = (norm: Norm | undefined) => !norm || norm.kind === "rms" && !norm.bias;
    const isByHead = plainNorm || queryKeyNorm === "head";
    return isByHead && queryNorm && fits(queryNorm) && fits(keyNorm)
      ? { queries: queryNorm, keys: keyNorm }
      : undefined;
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

/**
 * RoPE, after the norms of heads: rotates queries in place. Rotated keys, and values, go into the cache if the layer writes
 * one.
 */
export function rotate(
  network: Network,
  rows: FloatRows,
  cache: LayerCache | undefined,
  shape: HeadShape & Pick<RotateOptions, "first" | "rotaryStart" | "norms">,
  rope: Rope | undefined,
): void {
  if (!rope && !cache && !shape.norms) return;
  const options = { ...shape, ...rotationOf(network, rope) };
  const operation = network.make.rotate(rows, cache, network.state, options);
  network.add({
    ...overRows(operation),
    ...(cache && { keys: { cache, open: () => openKeys(network, rows, shape, rope) } }),
  });
}

function rotationOf(network: Network, rope: Rope | undefined) {
  return {
    rotary: rope?.rotary ?? 0,
    halfPairs: rope?.halfPairs ?? false,
    ...(rope ? { angles: network.memory.angles(rope) } : {}),
    ...(rope?.sections ? { sections: rope } : {}),
  };
}

/** What takes keys and values on their way to the cache: a copy of them, whose keys it rotates. */
function openKeys(
  network: Network,
  rows: FloatRows,
  shape: Parameters<typeof rotate>[3],
  rope: Rope | undefined,
): OpenKeys {
  const { device, make, state, options: { limits } } = network;
  const { norms, first = 0, heads, kvHeads, headDim, valueDim = headDim, rotaryStart = 0 } = shape;
  const columns = kvHeads * (headDim + (shape.sharedValues ? 0 : valueDim));
  const keys = floatRows(device, "keys and values", limits.rows, columns);
  const source = { rows: network.allocated(rows), first: first + heads * headDim };
  const copy = overRows(make.elementwise("copy", { rows: keys, columns }, { x: source }));
  const rotation = rope || norms?.keys
    ? overRows(make.rotate(keys, undefined, state, {
      heads: kvHeads,
      kvHeads: 0,
      headDim,
      rotaryStart,
      norms: norms?.keys && { queries: norms.keys },
      ...rotationOf(network, rope),
    }))
    : undefined;
  copy.bind?.();
  rotation?.bind?.();
  return { rows: keys, before: copy.encode, after: rotation?.encode ?? (() => {}) };
}

/**
 * softmax(q k^T * scale) v over the cache, as new rows for their reader: [rows, heads * valueDim].
 */
export function attend(
  network: Network,
  queries: FloatRows,
  cache: LayerCache,
  options: AttentionOptions,
  reader: { readers: Stack["readers"] },
): Input {
  const { device, state } = network;
  const { limits } = network.options;
  network.boundTileRows(device.mostTileRows(options));
  const split = device.decodeSplit;
  const maxSplits = Math.min(MOST_SPLITS, Math.ceil(limits.context / split));
  const partials = (rows: number, splits: number) =>
    network.scratchAllocator.buffer("partials", partialBytes(options, rows, splits), "scratch");
  const { heads, headDim, valueDim = headDim } = options;
  const decodePartials = partials(limits.slots, maxSplits);
  const prefillPartials = partials(limits.rows, 1);
  return network.produce("attended", heads * valueDim, reader, (y) => {
    const attention = (own: AttentionOptions, tiling: AttentionTiling) =>
      network.make.attention(queries, cache, state, y, own, tiling);
    // A decoding row attends to no later row, so images need no care.
    const decode = attention({ ...options, bidirectionalImages: false }, {
      tileRows: 1,
      split,
      maxSplits,
      tiles: state.decodeTiles,
      partials: decodePartials,
    });
    const prefill = attention(options, {
      // Read when the operation is bound, because later layers may reduce it.
      get tileRows() {
        return network.tileRows;
      },
      split: limits.context,
      maxSplits: 1,
      tiles: state.prefillTiles,
      partials: prefillPartials,
    });
    return {
      name: prefill.name,
      reads: [...new Set([...decode.reads, ...prefill.reads])],
      writes: [...new Set([...decode.writes, ...prefill.writes])],
      output: prefill.output,
      attention: { options, queries, cache },
      bind: () => {
        decode.bind?.();
        prefill.bind?.();
      },
      encode: (pass, step) => {
        if (step.decodeRows > 0) decode.encode(pass, step.decodeRows, step.decodeContext);
        if (step.prefillTiles > 0) prefill.encode(pass, step.prefillTiles, step.prefillContext);
      },
      work: ({ rows, sequences, decodeRows, decodeContext, prefillContext }) =>
        sumWork(
          [
            { rows: decodeRows, sequences: decodeRows, positions: decodeContext },
            {
              rows: rows - decodeRows,
              sequences: sequences - decodeRows,
              positions: prefillContext,
            },
          ].filter((part) => part.rows > 0).map((part) =>
            attentionWork(options, cache.types, part)
          ),
        ),
    };
  });
}

/**
 * Loads an attention layer. Errors: GgufError for a tensor that is missing or has another shape.
 */
export async function loadAttention(
  layer: LayerWeights,
  config: AttentionConfig,
): Promise<AttentionBlock> {
  const { network } = layer;
  const { width } = layer.config;
  const { rope } = config;
  if (rope && rope.rotary > config.headDim) {
    const state = `${rope.rotary} of the ${config.headDim} elements of a head cannot turn`;
    throw layer.config.error("rope.dimension_count", state);
  }
  const { heads, kvHeads, headDim, valueDim = headDim, gain, gated, biases, sharedCache } = config;
  // If a layer attends to another layer's keys, its file may still contain keys and values that are
  // not used.
  if (sharedCache) layer.ignore(/^attn_(k|v|k_norm)\./);
  const rows = projectionRows(layer, config);
  const outputName = layer.choose([["attn_output"], ["attn_out"]])[0];
  if (biases === "together") {
    layer.hasAll([...new Set(rows.map(baseOf)), layer.name(outputName)]
      .map((base) => `${base.slice(layer.prefix.length)}.bias`));
  }
  const projection = await layer.stack(rows, width, {
    bias: biases === "qkv" || biases === "all" ? "required" : "optional",
  });
  const output = await layer.matrix(`${outputName}.weight`, width, heads * valueDim, {
    bias: biases === "all" ? "required" : "optional",
    ...(gain === undefined ? {} : { gain }),
  });
  const norms = sharedCache ? ["attn_q_norm"] : ["attn_q_norm", "attn_k_norm"];
  const hasNorms = config.queryKeyNorm !== undefined && !config.plainNorm &&
    (!config.queryKeyNormOptional || layer.hasAll(norms.map((norm) => `${norm}.weight`)));
  const normOf = (name: string, count: number): Norm | undefined => {
    const kind = config.queryKeyNormKind ?? "rms";
    if (config.plainNorm) return { kind, epsilon: layer.config.epsilon(kind) };
    if (!hasNorms) return undefined;
    const weightPerVector = config.queryKeyNormPerHead ?? false;
    const shape = config.queryKeyNorm === "row"
      ? [count * headDim]
      : weightPerVector
      ? [headDim, count]
      : [headDim];
    return { ...layer.norm(name, kind, { shape }), weightPerVector };
  };
  const sinks = config.sinks ? layer.vector("attn_sinks.weight", [heads]) : undefined;
  // A window that is wider than the context on both sides hides nothing.
  const isWide = (config.window?.size ?? 0) > 2 * network.options.limits.context;
  const { window: _, ...seesAll } = config;
  const own = isWide ? seesAll : config;
  return new AttentionBlock(network, { ...own, gated: gated ?? false }, {
    projection,
    output,
    queryNorm: normOf("attn_q_norm", heads),
    keyNorm: sharedCache ? undefined : normOf("attn_k_norm", kvHeads),
    valueNorm: config.valueNorm ? { kind: "rms", epsilon: layer.config.epsilon("rms") } : undefined,
    sinks,
  });
}

/** Rows of the projection, in the order q, k, v, gates. */
function projectionRows(layer: LayerWeights, config: AttentionConfig): Rows[] {
  const { heads, kvHeads, headDim, valueDim = headDim, gated, sharedCache, keysAsValues } = config;
  const [keys, values] = [kvHeads * headDim, kvHeads * valueDim];
  const apart = ["attn_q.weight", "attn_k.weight", "attn_v.weight"];
  const [q, k, v] = layer.choose([["attn_qkv.weight"], apart]);
  if (k === undefined) return [layer.all(q, heads * headDim + keys + values)];
  const hasValues = !keysAsValues || layer.has(v, keysAsValues);
  const keysAndValues = sharedCache ? [] : [
    layer.all(k, keys),
    hasValues ? layer.all(v, values) : layer.all(k, keys),
  ];
  if (!gated) return [layer.all(q, heads * headDim), ...keysAndValues];
  // The rows of each head are its query, followed by its gate.
  const half = { count: heads, step: 2 * headDim, size: headDim };
  const queries = rowsOfEach(layer.name(q), { ...half, first: 0 });
  return [queries, ...keysAndValues, rowsOfEach(layer.name(q), { ...half, first: headDim })];
}
