// Where in a sound each token of a transcript was heard: the attention of chosen heads of the decoder to
// the encoder's rows. The fused kernels never write it down, so the host computes it once more, of
// the queries and the keys that they read.

import {
  BLOCK,
  type Buffer,
  decodeCache,
  type Device,
  type FloatRows,
  headBlockBytes,
  type LayerCache,
  type Recorder,
} from "../../kernels/mod.ts";
import { RowReadback } from "../nn/mod.ts";

/** A head of the decoder's attention to the encoder. */
export interface AlignmentHead {
  readonly layer: number;
  readonly head: number;
}

/** What a layer's attention to the encoder reads. */
export interface CrossLayer {
  /** The queries of the last step: [rows, heads * headDim]. */
  readonly queries: FloatRows;
  /** Keys and values of the encoder's rows. */
  readonly cache: LayerCache;
}

/** The queries and the keys of a head. */
export interface HeadAttention {
  /** [tokens, headDim] */
  readonly queries: Float32Array;
  /** [encoder's rows, headDim] */
  readonly keys: Float32Array;
}

/** Reads the queries of tokens, a few at a time, and the keys of the encoder's rows. */
export class AlignmentReader implements Disposable {
  readonly #device: Device;
  readonly #heads: readonly AlignmentHead[];
  readonly #layers: ReadonlyMap<number, CrossLayer>;
  readonly #shape: { heads: number; headDim: number; rows: number };
  readonly #queries = new Map<number, RowReadback>();
  readonly #found: number[][];

  /**
   * @param layers those of the heads, by their number
   * @param rows of the encoder
   * @param most most tokens of a step
   */
  constructor(
    device: Device,
    heads: readonly AlignmentHead[],
    layers: ReadonlyMap<number, CrossLayer>,
    { most, ...shape }: { heads: number; headDim: number; rows: number; most: number },
  ) {
    this.#device = device;
    this.#heads = heads;
    this.#layers = layers;
    this.#shape = shape;
    this.#found = heads.map(() => []);
    for (const [layer, { queries }] of layers) {
      this.#queries.set(layer, new RowReadback(device, "cross queries", queries, most));
    }
  }

  /** Records the copy of a step's first rows. */
  copy(recorder: Recorder, count: number): void {
    for (const readback of this.#queries.values()) readback.copy(recorder, 0, count);
  }

  /** Reads them, after the copies were submitted. */
  async read(count: number): Promise<void> {
    const { heads, headDim } = this.#shape;
    for (const [layer, readback] of this.#queries) {
      const rows = await readback.read(count);
      for (const [i, head] of this.#heads.entries()) {
        if (head.layer !== layer) continue;
        for (let row = 0; row < count; row++) {
          const first = (row * heads + head.head) * headDim;
          for (let at = first; at < first + headDim; at++) this.#found[i].push(rows[at]);
        }
      }
    }
  }

  /** What the heads read, in their order. */
  async attention(): Promise<HeadAttention[]> {
    const attention: HeadAttention[] = [];
    for (const [i, head] of this.#heads.entries()) {
      attention.push({
        queries: Float32Array.from(this.#found[i]),
        keys: await this.#keysOf(head),
      });
    }
    return attention;
  }

  [Symbol.dispose](): void {
    for (const readback of this.#queries.values()) readback.free();
  }

  /** The keys of a head, whose blocks lie among those of the other heads. */
  async #keysOf({ layer, head }: AlignmentHead): Promise<Float32Array> {
    const { heads, headDim, rows } = this.#shape;
    const { keys, types } = this.#layers.get(layer)!.cache;
    const bytes = headBlockBytes(types.keys, headDim);
    const blocks = Math.ceil(rows / BLOCK);
    const found = await this.#read(
      keys,
      Array.from({ length: blocks }, (_, block) => (block * heads + head) * bytes),
      bytes,
    );
    return decodeCache(types.keys, headDim, found).subarray(0, rows * headDim);
  }

  /** Parts of a buffer, one after the other. */
  async #read(buffer: Buffer, offsets: readonly number[], bytes: number): Promise<Uint8Array> {
    const staging = this.#device.readback("encoded keys readback", offsets.length * bytes);
    try {
      const commands = this.#device.record();
      for (const [i, offset] of offsets.entries()) {
        commands.copy(buffer, offset, staging.buffer, i * bytes, bytes);
      }
      this.#device.submit(commands.finish());
      return new Uint8Array(await staging.readNow(offsets.length * bytes));
    } finally {
      staging.free();
    }
  }
}
