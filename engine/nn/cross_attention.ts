// The attention of a decoder to what an encoder made (Vaswani et al. 2017): queries come from the
// decoder's rows; keys and values from the encoder's, once for all steps. So the cache of a layer is
// written by the encoder's network, and only read by the decoder's.

import {
  type AttentionState,
  type AttentionTiling,
  BLOCK,
  type Buffer,
  type Device,
  type FloatRows,
  type LayerCache,
  layerCacheBytes,
  partialBytes,
  QUERY_TILE,
  typesOf,
} from "../../kernels/mod.ts";
import type { Stack } from "../weights/mod.ts";
import type { Heads } from "./config.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";
import { overRows, stepOperation } from "./step.ts";

/** The rows of an encoder that all slots of a decoder attend to, and the query tiles of a step. */
export class EncodedRows {
  /** What attention reads, beside the rows of the decoder's step. */
  readonly state: AttentionState;
  readonly tiles: Buffer;
  /** Most query rows of a tile. */
  readonly tileRows: number;
  /** Number of tiles of the step that was written last. */
  tileCount = 0;
  /** Number of rows that every query attends to: at first, all that an encoder can make. */
  length: number;
  readonly #device: Device;

  /**
   * @param rows the rows of the decoder's step
   * @param length most rows that an encoder makes
   */
  constructor(
    device: Device,
    { rows, limits, length, heads }: {
      rows: Buffer;
      limits: { rows: number; slots: number };
      length: number;
      heads: Heads;
    },
  ) {
    this.#device = device;
    this.length = length;
    const maxBlocks = Math.ceil(length / BLOCK);
    const table = device.buffer("encoded rows", limits.slots * maxBlocks * 4, "scratch");
    const blocks = Uint32Array.from({ length: limits.slots * maxBlocks }, (_, i) => i % maxBlocks);
    device.write(table, 0, blocks);
    this.state = { rows, table, maxBlocks };
    this.tiles = device.buffer("cross tiles", limits.rows * QUERY_TILE.bytes, "scratch");
    this.tileRows = device.mostTileRows(heads);
  }

  /** Writes the query tiles of a step. @param runs the number of rows of each slot, in order */
  write(runs: readonly number[]): void {
    const tiles = [];
    let first = 0;
    for (const rows of runs) {
      for (let row = 0; row < rows; row += this.tileRows) {
        const count = Math.min(this.tileRows, rows - row);
        tiles.push({ firstRow: first + row, rows: count, end: this.length, imageEnd: 0 });
      }
      first += rows;
    }
    this.#device.write(this.tiles, 0, QUERY_TILE.pack(tiles));
    this.tileCount = tiles.length;
  }
}

/** The attention of a decoder's layer to the encoder's rows. */
export class CrossAttentionBlock {
  readonly readers: Stack["readers"];
  readonly #network: Network;
  readonly #heads: Heads;
  readonly #cache: LayerCache;
  readonly #weights: { query: Stack; output: Stack; keysAndValues: Stack };
  readonly #encoded: EncodedRows;

  constructor(
    network: Network,
    heads: Heads,
    weights: { query: Stack; output: Stack; keysAndValues: Stack },
    cache: LayerCache,
    encoded: EncodedRows,
  ) {
    this.#network = network;
    this.#heads = heads;
    this.#weights = weights;
    this.#cache = cache;
    this.#encoded = encoded;
    this.readers = weights.query.readers;
  }

  /** What reads the encoder's rows. */
  get encoderReaders(): Stack["readers"] {
    return this.#weights.keysAndValues.readers;
  }

  /** Appends to the encoder's network what writes keys and values of its rows x. */
  store(encoder: Network, x: Input): void {
    const { kvHeads, headDim } = this.#heads;
    const rows = encoder.linear(x, this.#weights.keysAndValues, "encoded keys and values");
    const options = { heads: 0, kvHeads, headDim, rotary: 0, halfPairs: false };
    encoder.add(overRows(encoder.make.rotate(rows, this.#cache, encoder.state, options)));
  }

  /** The keys and values of the encoder's rows. */
  get cache(): LayerCache {
    return this.#cache;
  }

  /** y += attention(x). Gives the queries, which live within a step. */
  add(x: Input, y: FloatRows): FloatRows {
    const network = this.#network;
    const { heads, headDim } = this.#heads;
    const { query, output } = this.#weights;
    const encoded = this.#encoded;
    return network.block("attention", () => {
      const queries = network.linear(x, query, "cross queries");
      const { rows } = network.options.limits;
      const tiling: AttentionTiling = {
        tileRows: encoded.tileRows,
        split: BLOCK * encoded.state.maxBlocks,
        maxSplits: 1,
        tiles: encoded.tiles,
        partials: network.scratchAllocator.buffer(
          "partials",
          partialBytes(this.#heads, rows, 1),
          "scratch",
        ),
      };
      const attended = network.produce("cross attended", heads * headDim, output, (y) => {
        const options = { ...this.#heads, scale: 1 / Math.sqrt(headDim), causal: false };
        const { state } = encoded;
        const attention = network.make.attention(queries, this.#cache, state, y, options, tiling);
        return stepOperation(
          attention,
          (pass) => attention.encode(pass, encoded.tileCount, encoded.length),
          ({ rows }) => ({ rows, sequences: rows, positions: encoded.length }),
        );
      });
      network.addLinear(attended, output, y);
      return queries;
    });
  }
}

/**
 * Loads cross_attn_q, cross_attn_k, cross_attn_v and cross_attn_output, with their biases. Errors:
 * GgufError.
 */
export async function loadCrossAttention(
  layer: LayerWeights,
  encoded: EncodedRows,
  { heads, type }: { heads: Heads; type: "f32" | "f16" },
): Promise<CrossAttentionBlock> {
  const { network, config: { width } } = layer;
  const own = heads.heads * heads.headDim;
  const bias = { bias: "required" } as const;
  const types = typesOf(type);
  const buffer = (part: "keys" | "values") => {
    const bytes = layerCacheBytes(heads, encoded.state.maxBlocks, types, part);
    return network.device.buffer(`encoded ${part}`, bytes, "cache");
  };
  const cache = { keys: buffer("keys"), values: buffer("values"), types };
  const query = await layer.matrix("cross_attn_q.weight", own, width, bias);
  const keysAndValues = await layer.stack(
    ["cross_attn_k.weight", "cross_attn_v.weight"].map((name) => layer.all(name, own)),
    width,
    bias,
  );
  const output = await layer.matrix("cross_attn_output.weight", width, own, bias);
  return new CrossAttentionBlock(network, heads, { query, output, keysAndValues }, cache, encoded);
}
