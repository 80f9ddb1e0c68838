// Rotation and attention over the paged KV cache in plain TypeScript. A block of the cache is
// [kvHeads, BLOCK] heads, as kernels/ops/kv_cache.ts says, of f32 or f16.

import type { FloatRows } from "../../ops/activation.ts";
import { alibiSlopes, type AttentionOptions, type AttentionTiling } from "../../ops/attention.ts";
import { IMAGE_TOKEN } from "../../ops/embed.ts";
import { type AttentionState, BLOCK, type LayerCache } from "../../ops/kv_cache.ts";
import { TURN } from "../../ops/rope_tables.ts";
import type { RotateOptions } from "../../ops/rotate.ts";
import type { Buffer } from "../../operation.ts";
import { cpu } from "../memory.ts";
import { floatsOf } from "./rows.ts";

/** Elements of a cache, whatever their type. */
type Elements = Float32Array | Float16Array;

function elementsOf(buffer: Buffer, half: boolean): Elements {
  return half ? cpu(buffer).halves : cpu(buffer).floats;
}

/** The part of an M-RoPE position that turns a pair. */
function partOf(
  pair: number,
  { sections, interleaved = false }: RotateOptions["sections"] & object,
) {
  const [time = 0, height = 0, width = 0, other = 0] = sections ?? [];
  const at = pair % (time + height + width + other);
  if (interleaved) return at % 3;
  return Number(at >= time) + Number(at >= time + height);
}

/** RoPE on queries in place and on keys; keys and values into the cache. */
export function rotate(
  qkv: FloatRows,
  cache: LayerCache | undefined,
  state: AttentionState,
  options: RotateOptions,
) {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
  const { rotary, rotaryStart = 0, halfPairs, first = 0, sections } = options;
  const rows = cpu(state.rows).words;
  const table = cpu(state.table).words;
  const x = floatsOf(qkv);
  const low = rotary > 0 ? cpu(options.lowTurns!).floats : undefined;
  const high = rotary > 0 ? cpu(options.highTurns!).floats : undefined;
  const mropePositions = sections && cpu(sections.mropePositions).words;
  const hasSections = rotary > 0 && (sections?.sections?.length ?? 0) > 0;
  const keys = cache && elementsOf(cache.keys, cache.half);
  const values = cache?.values && !sharedValues ? elementsOf(cache.values, cache.half) : undefined;
  const pairs = rotary / 2;
  const [cosines, sines] = [new Float32Array(pairs), new Float32Array(pairs)];

  /** How far each pair turns in a row, as the product of two unit vectors. */
  const turn = (token: number, position: number, rotaryPosition: number) => {
    for (let pair = 0; pair < pairs; pair++) {
      let at = position;
      if (hasSections) {
        at = token >= IMAGE_TOKEN
          ? mropePositions![4 * (token - IMAGE_TOKEN) + partOf(pair, sections!)]
          : rotaryPosition;
      }
      const a = ((at % TURN) * pairs + pair) * 2;
      const b = (Math.floor(at / TURN) * pairs + pair) * 2;
      cosines[pair] = low![a] * high![b] - low![a + 1] * high![b + 1];
      sines[pair] = low![a] * high![b + 1] + low![a + 1] * high![b];
    }
  };
  const turnHead = (from: number) => {
    const start = from + rotaryStart;
    for (let pair = 0; pair < pairs; pair++) {
      const one = start + (halfPairs ? pair : 2 * pair);
      const two = one + (halfPairs ? pairs : 1);
      const [a, b] = [x[one], x[two]];
      x[one] = a * cosines[pair] - b * sines[pair];
      x[two] = b * cosines[pair] + a * sines[pair];
    }
  };
  return (count: number) => {
    for (let row = 0; row < count; row++) {
      const [token, position, slot, rotaryPosition] = rows.subarray(4 * row, 4 * row + 4);
      const base = row * qkv.stride + first;
      if (rotary > 0) turn(token, position, rotaryPosition);
      for (let head = 0; rotary > 0 && head < heads; head++) turnHead(base + head * headDim);
      if (!keys) continue;
      const block = table[slot * state.maxBlocks + Math.floor(position / BLOCK)];
      for (let head = 0; head < kvHeads; head++) {
        const cached = (block * kvHeads + head) * BLOCK + position % BLOCK;
        const from = base + (heads + head) * headDim;
        // The rows keep their keys as they are: only the cache has them turned.
        const before = x.slice(from, from + headDim);
        if (rotary > 0) turnHead(from);
        store(keys, cached * headDim, x.subarray(from, from + headDim));
        x.set(before, from);
        if (!values) continue;
        const value = base + (heads + kvHeads) * headDim + head * valueDim;
        store(values, cached * valueDim, x.subarray(value, value + valueDim));
      }
    }
  };
}

/** Halves that are infinite are written as NaN, as halvesToFloats() expects of them. */
function store(to: Elements, at: number, vector: Float32Array): void {
  to.set(vector, at);
  if (to instanceof Float32Array) return;
  for (let i = at; i < at + vector.length; i++) if (!Number.isFinite(to[i])) to[i] = NaN;
}

/** The positions that a query sees, from the first to before the last. */
export function seenBy(
  { window, causal = true, wholeImages = false }: AttentionOptions,
  position: number,
  end: number,
  imageEnd: number,
): readonly [first: number, after: number] {
  const size = window?.size ?? 0;
  let first = 0;
  if (window?.kind === "sliding") first = Math.max(0, position + 1 - size);
  if (window?.kind === "chunked") first = position - position % size;
  if (window?.kind === "symmetric") first = Math.max(0, position - Math.floor(size / 2));
  if (causal) return [first, wholeImages ? Math.max(position + 1, imageEnd) : position + 1];
  if (window?.kind !== "symmetric") return [first, end];
  return [first, Math.min(end, position + Math.floor(size / 2) + 1)];
}

/** What queries at a position are multiplied by. */
export function heatAt({ temperature }: AttentionOptions, position: number): number {
  if (!temperature) return 1;
  const { scale, offset, length } = temperature;
  return 1 + scale * Math.log(Math.floor((position + offset) / length) + 1);
}

/** softmax(q k^T * scale) v over the cache, for the rows of tiles; others of y stay as they are. */
export function attention(
  qkv: FloatRows,
  cache: LayerCache,
  state: AttentionState,
  y: { floats: Float32Array; stride: number },
  options: AttentionOptions,
  tiling: AttentionTiling,
) {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
  const { scale, softcap = 0, sinks, alibi = 0, first = 0 } = options;
  const rows = cpu(state.rows).words;
  const table = cpu(state.table).words;
  const tiles = cpu(tiling.tiles).words;
  const q = floatsOf(qkv);
  const keys = elementsOf(cache.keys, cache.half);
  const values = sharedValues ? keys : elementsOf(cache.values!, cache.half);
  const valueStride = sharedValues ? headDim : valueDim;
  const slopes = alibi > 0 ? alibiSlopes(heads, alibi) : undefined;
  const sinkOf = sinks && cpu(sinks).floats;
  const share = heads / kvHeads;
  let scores = new Float64Array(1024);

  const attendRow = (row: number, end: number, imageEnd: number, to: Float32Array, at: number) => {
    const [, position, slot] = rows.subarray(4 * row, 4 * row + 3);
    const [from, after] = seenBy(options, position, Math.max(end, position + 1), imageEnd);
    if (after - from > scores.length) scores = new Float64Array(2 * (after - from));
    const heat = heatAt(options, position);
    const headAt = (kv: number, p: number) =>
      (table[slot * state.maxBlocks + Math.floor(p / BLOCK)] * kvHeads + kv) * BLOCK + p % BLOCK;
    for (let head = 0; head < heads; head++) {
      const kv = Math.floor(head / share);
      const query = row * qkv.stride + first + head * headDim;
      let peak = sinkOf ? sinkOf[head] : -Infinity;
      for (let p = from; p < after; p++) {
        const key = headAt(kv, p) * headDim;
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += q[query + d] * keys[key + d];
        let score = dot * heat * scale;
        if (softcap > 0) score = softcap * Math.tanh(score / softcap);
        if (slopes) score -= slopes[head] * Math.abs(position - p);
        scores[p - from] = score;
        if (!(score <= peak)) peak = score; // a NaN has to be seen in the result
      }
      let sum = sinkOf ? Math.exp(sinkOf[head] - peak) : 0;
      const out = at + head * valueDim;
      to.fill(0, out, out + valueDim);
      for (let p = from; p < after; p++) {
        const weight = Math.exp(scores[p - from] - peak);
        sum += weight;
        const value = headAt(kv, p) * valueStride;
        for (let d = 0; d < valueDim; d++) to[out + d] += weight * values[value + d];
      }
      for (let d = 0; d < valueDim; d++) to[out + d] /= sum;
    }
  };
  return (count: number) => {
    for (let tile = 0; tile < count; tile++) {
      const [firstRow, rowCount, end, imageEnd] = tiles.subarray(4 * tile, 4 * tile + 4);
      for (let row = firstRow; row < firstRow + rowCount; row++) {
        attendRow(row, end, imageEnd, y.floats, row * y.stride);
      }
    }
  };
}
