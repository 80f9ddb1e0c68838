// Attention of one decoding sequence, for trying ways to compute it: a short context with a known result
// is checked, and a longer one, in several layers that exceed the GPU's caches, is timed.

import type { AttentionCase } from "../../tuning.ts";
import { floatRows } from "../../ops/activation.ts";
import { attentionReference, MOST_SPLITS, partialBytes } from "../../ops/attention.ts";
import { decodeCache, encodeCache } from "../../ops/cache_codes.ts";
import { BLOCK, headBlockBytes, type LayerCache } from "../../ops/kv_cache.ts";
import { QUERY_TILE, STEP_ROW } from "../../ops/step_records.ts";
import { Attention } from "../attention.ts";
import type { Gpu } from "../gpu.ts";
import { GpuReadback } from "../readback.ts";
import { type AttentionWay, attentionWays, usualSplit } from "../candidates.ts";
import { randomBits } from "./random_matrix.ts";
import { type Bench, type Encode, faultIn } from "./trial.ts";

/** Positions of the context that is checked: its last split and block are not full. */
const CHECKED_POSITIONS = 700;
const MEASURED_POSITIONS = 2048;

/** Bytes of the KV caches that are timed, and the number of layers. */
const COLD_BYTES = 64 * 2 ** 20;
const MOST_LAYERS = 8;

/** Greatest error, as a share of the greatest value: results are means of values. */
const TOLERANCE = 1e-3;

/** Attention bound to a context. */
interface Context {
  readonly positions: number;
  readonly queries: Float32Array<ArrayBuffer>;
  readonly y: ReturnType<typeof floatRows>;
  bind(way: AttentionWay): Attention;
}

/** The ways to attend on a device. */
export class AttentionBench implements Bench {
  readonly ways: readonly string[];
  readonly #device: Gpu;
  readonly #kernel: AttentionCase;
  readonly #valueDim: number;
  readonly #byName: Map<string, AttentionWay>;
  readonly #cached: { keys: Uint8Array<ArrayBuffer>; values: Uint8Array<ArrayBuffer> };
  #full: Context[] | undefined;
  #known: { context: Context; readback: GpuReadback; expected: Float32Array } | undefined;

  /** @param device what it allocates is freed with it */
  constructor(device: Gpu, kernel: AttentionCase) {
    const { kvHeads, headDim, valueDim = headDim } = kernel;
    this.#device = device;
    this.#kernel = kernel;
    this.#valueDim = valueDim;
    this.#byName = new Map(attentionWays(device.profile, kernel).map((way) => [way.name, way]));
    this.ways = [...this.#byName.keys()];
    const cells = Math.ceil(CHECKED_POSITIONS / BLOCK) * BLOCK * kvHeads;
    this.#cached = {
      keys: encodeCache(kernel.keys, headDim, randomValues(cells * headDim, 3)),
      values: encodeCache(kernel.values, valueDim, randomValues(cells * valueDim, 5)),
    };
  }

  async check(way: string): Promise<string | undefined> {
    const { context, readback, expected } = this.#known ??= this.#know();
    const buffer = context.y.floats as GPUBuffer;
    this.#device.write(buffer, 0, new Float32Array(buffer.size / 4).fill(NaN));
    const attention = context.bind(this.#byName.get(way)!);
    const encoder = this.#device.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    attention.encode(pass, 1, context.positions);
    pass.end();
    encoder.copyBufferToBuffer(buffer, 0, readback.buffer, 0, buffer.size);
    this.#device.gpu.queue.submit([encoder.finish()]);
    const actual = new Float32Array(await readback.read(buffer.size));
    return faultIn({ actual, expected, errors: expected.map(() => TOLERANCE) });
  }

  full(way: string): Encode[] {
    const { heads, kvHeads, headDim } = this.#kernel;
    const layer = kvHeads * MEASURED_POSITIONS *
      (headBlockBytes(this.#kernel.keys, headDim) +
        headBlockBytes(this.#kernel.values, this.#valueDim)) /
      BLOCK;
    const layers = Math.min(MOST_LAYERS, Math.ceil(COLD_BYTES / layer));
    const isSmall = this.#device.capabilities.software;
    this.#full ??= Array.from(
      { length: isSmall ? 1 : layers },
      () => this.#context(MEASURED_POSITIONS, randomValues(heads * headDim, 1)),
    );
    return this.#full.map((context) => {
      const attention = context.bind(this.#byName.get(way)!);
      return (pass) => attention.encode(pass, 1, context.positions);
    });
  }

  /** One sequence whose last position decodes; its blocks lie in the opposite order. */
  #context(positions: number, queries: Float32Array<ArrayBuffer>): Context {
    const device = this.#device;
    const { heads, headDim, sharedValues = false } = this.#kernel;
    const maxBlocks = Math.ceil(positions / BLOCK);
    const upload = (data: Uint32Array<ArrayBuffer>) => {
      const buffer = device.buffer("tuning", data.byteLength, "scratch");
      device.write(buffer, 0, data);
      return buffer;
    };
    const table = upload(Uint32Array.from({ length: maxBlocks }, (_, i) => maxBlocks - 1 - i));
    const row = { token: 0, position: positions - 1, slot: 0, time: 0, height: 0, width: 0 };
    const state = { rows: upload(STEP_ROW.pack([row])), table, maxBlocks };
    const qkv = floatRows(device, "tuning qkv", 1, heads * headDim);
    device.write(qkv.floats, 0, queries);
    const cache: LayerCache = {
      keys: this.#fill("keys", maxBlocks),
      ...(!sharedValues && { values: this.#fill("values", maxBlocks) }),
      types: { keys: this.#kernel.keys, values: this.#kernel.values },
    };
    const y = floatRows(device, "tuning y", 1, heads * this.#valueDim);
    const split = usualSplit(device.profile);
    const maxSplits = Math.min(MOST_SPLITS, Math.ceil(positions / split));
    const tiling = {
      tileRows: 1,
      split,
      maxSplits,
      tiles: upload(QUERY_TILE.pack([{ firstRow: 0, rows: 1, end: 0, imageEnd: 0 }])),
      partials: device.buffer("tuning", partialBytes(this.#kernel, 1, maxSplits), "scratch"),
    };
    const options = { ...this.#kernel, scale: 1 / Math.sqrt(headDim) };
    return {
      positions,
      queries,
      y,
      bind: (way) => new Attention(device, qkv, cache, state, y, options, tiling, way),
    };
  }

  /** A KV cache of this number of blocks, filled with copies of the same few. */
  #fill(part: "keys" | "values", blocks: number): GPUBuffer {
    const { kvHeads, headDim } = this.#kernel;
    const elements = part === "keys" ? headDim : this.#valueDim;
    const bytes = blocks * kvHeads * headBlockBytes(this.#kernel[part], elements);
    const buffer = this.#device.buffer("tuning cache", bytes, "cache");
    const piece = this.#cached[part];
    for (let at = 0; at < bytes; at += piece.length) {
      this.#device.write(buffer, at, piece.subarray(0, Math.min(piece.length, bytes - at)));
    }
    return buffer;
  }

  #know() {
    const { heads, kvHeads, headDim, sharedValues = false } = this.#kernel;
    const valueDim = this.#valueDim;
    const queries = randomValues(heads * headDim, 1);
    const context = this.#context(CHECKED_POSITIONS, queries);
    const keys = decodeCache(this.#kernel.keys, headDim, this.#cached.keys);
    const values = sharedValues
      ? keys
      : decodeCache(this.#kernel.values, valueDim, this.#cached.values);
    const blocks = Math.ceil(CHECKED_POSITIONS / BLOCK);
    const last = CHECKED_POSITIONS - 1;
    // [positions, elements] of a KV head, in the order of positions.
    const seen = (all: Float32Array, elements: number, kvHead: number) =>
      Float32Array.from({ length: CHECKED_POSITIONS * elements }, (_, i) => {
        const position = Math.floor(i / elements);
        const block = blocks - 1 - Math.floor(position / BLOCK);
        return all[
          ((block * kvHeads + kvHead) * BLOCK + position % BLOCK) * elements + i % elements
        ]!;
      });
    const scale = 1 / Math.sqrt(headDim);
    const expected = new Float32Array(heads * valueDim);
    for (let kvHead = 0; kvHead < kvHeads; kvHead++) {
      const [k, v] = [
        seen(keys, headDim, kvHead),
        seen(values, sharedValues ? headDim : valueDim, kvHead),
      ];
      const group = heads / kvHeads;
      for (let head = kvHead * group; head < (kvHead + 1) * group; head++) {
        const q = new Float32Array(CHECKED_POSITIONS * headDim);
        q.set(queries.subarray(head * headDim, (head + 1) * headDim), last * headDim);
        const one = { heads: 1, kvHeads: 1, headDim, valueDim, sharedValues, scale, from: last };
        expected.set(attentionReference(q, k, v, one), head * valueDim);
      }
    }
    const size = (context.y.floats as GPUBuffer).size;
    return { context, readback: new GpuReadback(this.#device, "tuning", size), expected };
  }
}

/** Values between -1 and 1. */
function randomValues(count: number, seed: number): Float32Array<ArrayBuffer> {
  const next = randomBits(seed);
  return Float32Array.from({ length: count }, () => next() / 2 ** 31 - 1);
}
