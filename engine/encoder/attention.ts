// The attention of encoders of images and sounds: every row attends to all rows of its window, in both
// directions. Projections, norms of queries and keys, and the output are as in texts. Positions are
// rotations that are given for each row, because those of images have two axes.

import {
  type AttentionTiling,
  type Buffer,
  type FloatRows,
  type Norm,
  partialBytes,
} from "../../kernels/mod.ts";
import { type Heads, type Input, type Layer, type Network, stepOperation } from "../nn/mod.ts";
import { loadProjection, type Projection } from "./projection.ts";
import type { Windows } from "./windows.ts";

/** The rotation of each row's pairs: [rows, headDim / 2] of (cos, sin); see RotateRows. */
export interface Rotations {
  readonly buffer: Buffer;
  /** Distance between the two elements of a pair. */
  readonly distance: number;
}

/** The options of a layer. */
export interface EncoderAttentionConfig extends Heads {
  /** The rows that attend to each other. */
  windows: Windows;
  /** Missing: no rotation. */
  rotations?: Rotations | undefined;
  /** Default 1 / sqrt(headDim). */
  scale?: number;
  /** Whether each head of the values is normed without weights. */
  valueNorm?: boolean;
}

/** An attention layer with its weights. */
export class EncoderAttention {
  readonly readers: Projection["readers"];
  readonly readsFloats: boolean;

  constructor(
    readonly network: Network,
    readonly config: EncoderAttentionConfig,
    readonly weights: {
      projection: Projection;
      output: Projection;
      queryNorm?: Norm | undefined;
      keyNorm?: Norm | undefined;
      valueNorm?: Norm | undefined;
    },
  ) {
    this.readers = weights.projection.readers;
    this.readsFloats = weights.projection.readsFloats;
  }

  /** y += attention(x), or y += norm(attention(x)). */
  add(x: Input, y: FloatRows, postNorm?: Norm): void {
    const { network, config } = this;
    const { projection, output, queryNorm, keyNorm, valueNorm } = this.weights;
    const { heads, headDim: columns } = config;
    const qkv = network.scratch("qkv", projection.columns); // [rows, q, k and v heads]
    projection.run(x, qkv);
    const normHeads = (norm: Norm | undefined, part: number) => {
      const first = part * heads * columns;
      if (norm) network.normVectors(qkv, norm, { first, count: heads, columns });
    };
    normHeads(queryNorm, 0);
    normHeads(keyNorm, 1);
    normHeads(valueNorm, 2);
    this.#rotateAndStore(qkv);
    output.add(this.#attend(qkv), y, postNorm);
  }

  #rotateAndStore(qkv: FloatRows): void {
    const { heads, headDim, windows, rotations } = this.config;
    if (rotations) {
      const { buffer, distance } = rotations;
      const options = { heads: 2 * heads, headDim, distance };
      this.network.addRows(this.network.make.rotateRows(qkv, buffer, options));
    }
    const store = this.network.make.rotate(qkv, windows.cache, windows.state, {
      heads: 0,
      kvHeads: heads,
      headDim,
      first: heads * headDim,
      rotary: 0,
      halfPairs: false,
    });
    this.network.addRows(store);
  }

  /** softmax(q k^T * scale) v within each window. */
  #attend(qkv: FloatRows): Input {
    const { options: { limits } } = this.network;
    const { heads, headDim, windows, scale = 1 / Math.sqrt(headDim) } = this.config;
    const shape = { heads, kvHeads: heads, headDim };
    const tiling: AttentionTiling = {
      tileRows: windows.tileRows,
      split: limits.rows,
      maxSplits: 1,
      tiles: windows.state.prefillTiles,
      partials: this.network.scratchAllocator.buffer(
        "partials",
        partialBytes(shape, limits.rows, 1),
        "scratch",
      ),
    };
    return this.network.produce("attended", heads * headDim, this.weights.output, (y) => {
      const options = { ...shape, scale, causal: false };
      const { cache, state } = windows;
      const attention = this.network.make.attention(qkv, cache, state, y, options, tiling);
      return stepOperation(
        attention,
        (pass) => attention.encode(pass, windows.tiles, windows.longest),
      );
    });
  }
}

/** Loads attn_q, attn_k and attn_v, or attn_qkv; attn_out; optional norms. Errors: GgufError. */
export async function loadEncoderAttention(
  layer: Layer,
  config: EncoderAttentionConfig,
): Promise<EncoderAttention> {
  const { heads, headDim } = config;
  const channels = heads * headDim;
  const { width } = layer.config;
  const apart = ["attn_q.weight", "attn_k.weight", "attn_v.weight"];
  const inputs = layer.choose([["attn_qkv.weight"], apart]);
  const rows = 3 * channels / inputs.length;
  const hasNorms = layer.hasAll(["attn_q_norm.weight", "attn_k_norm.weight"]);
  const normOf = (name: string) =>
    hasNorms ? layer.norm(name, "rms", { shape: [headDim] }) : undefined;
  return new EncoderAttention(layer.network, config, {
    projection: await loadProjection(layer, inputs.map((name) => layer.all(name, rows)), width),
    output: await loadProjection(layer, [layer.all("attn_out.weight", width)], channels),
    queryNorm: normOf("attn_q_norm"),
    keyNorm: normOf("attn_k_norm"),
    valueNorm: config.valueNorm ? { kind: "rms", epsilon: layer.config.epsilon("rms") } : undefined,
  });
}
