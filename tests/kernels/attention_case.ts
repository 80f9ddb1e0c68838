// One run of Attention over sequences in a paged cache, compared with the reference: shared by the
// tests of its tiling (attention_test.ts) and of its variants (attention_options_test.ts).

import {
  type AttentionOptions,
  attentionReference,
  BLOCK,
  type CacheType,
  type Device,
  partialBytes,
  QUERY_TILE,
  STEP_ROW,
  throughCache,
} from "../../kernels/mod.ts";
import { submit, upload } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertRows, outputRows, type Tolerance, uploadRows } from "./close.ts";
import { PagedCache } from "./paged.ts";

export interface Case extends Omit<AttentionOptions, "scale" | "sinks"> {
  half: boolean;
  /** What the cache has instead of f16 or f32. */
  type?: CacheType;
  quantized: boolean;
  tileRows: number;
  split: number;
  /** Most splits. Default: as many as the longest context has. */
  maxSplits?: number;
  /** Positions of each sequence, and how many of them, the last ones, are queries. */
  sequences: readonly (readonly [context: number, rows: number])[];
  /** Factor of queries: large ones make weights of nearly zero and one. */
  sharpness?: number;
  sinks?: Float32Array;
  /** Positions of images in every sequence that is long enough. */
  images?: readonly (readonly [first: number, end: number])[];
}

const SLOTS = 5;

/** Positions before this one are seen by no query from `position` on. */
function firstSeen({ window }: Case, position: number): number {
  if (window?.kind === "sliding") return Math.max(0, position - window.size + 1);
  if (window?.kind === "chunked") return position - position % window.size;
  if (window?.kind === "symmetric") return Math.max(0, position - Math.floor(window.size / 2));
  return 0;
}

/** One sequence in plain numbers, as the cache holds it. */
function sequenceOf(shape: Case, slot: number, context: number) {
  const { heads, kvHeads, headDim, valueDim = headDim, half, sharpness = 1 } = shape;
  const q = randomFloats(context * heads * headDim, slot + 1).map((value) => value * sharpness);
  let k = randomFloats(context * kvHeads * headDim, slot + 101);
  let v = randomFloats(context * kvHeads * valueDim, slot + 201);
  const type = shape.type ?? (half ? "f16" : "f32");
  k = throughCache(type, headDim, k);
  v = throughCache(type, valueDim, v);
  return { q, k, v };
}

/**
 * The error of an output: its weights are off by the error of their logits, and it is a mean of
 * values. A score of magnitude s, a sum of headDim products, is off by (headDim / 2 + 2) ULP of s,
 * and by 8 of its query's temperature. A cap adds 3 ULP of s in the argument of its exp(), and 10 of
 * the cap: exp(x) is off by 3 + 2 |x|, which tanh's slope holds below 4, a quotient and a sum of at
 * most 2 by the rest. A bias b adds 2 ULP of b. exp() of a logit adds 3 ULP and 2 for each unit of
 * its argument, at most twice the largest logit, once in its split and once in the merge; the sums
 * over the positions add half an ULP each. A weight's error counts twice, in the sum of values and in
 * the sum that divides it.
 */
function outputError(shape: Case, q: Float32Array, k: Float32Array, v: Float32Array) {
  const { heads, kvHeads, headDim, softcap = 0, alibi = 0, sinks = [], temperature } = shape;
  const context = k.length / kvHeads / headDim;
  const most = (values: ArrayLike<number>) =>
    Array.from(values).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const length = (values: Float32Array) => {
    let longest = 0;
    for (let at = 0; at < values.length; at += headDim) {
      longest = Math.max(longest, Math.hypot(...values.subarray(at, at + headDim)));
    }
    return longest;
  };
  const heat = temperature ? 1 + temperature.scale * Math.log(context) : 1;
  const score = length(q) * heat * length(k) / Math.sqrt(headDim); // Cauchy and Schwarz
  const bias = alibi > 0 ? context * 2 ** (-alibi / 2 / heads) : 0;
  const logit = (headDim / 2 + 2 + (temperature ? 8 : 0)) * score +
    (softcap > 0 ? 3 * score + 10 * softcap : 0) + 2 * bias;
  const largest = Math.max((softcap > 0 ? Math.min(softcap, score) : score) + bias, most(sinks));
  const weight = logit + 2 * (3 + 4 * largest) + context / 2;
  return 2 * weight * 2 ** -23 * most(shape.sharedValues ? k : v);
}

/** Solved sequences by all that they depend on: devices, tilings and outputs share them. */
const solved = new Map<string, ReturnType<typeof solve>>();

/** A sequence, what the reference makes of it, and how far a device may be off. */
function solvedSequence(
  shape: Case,
  slot: number,
  context: number,
  from: number,
): ReturnType<typeof solve> {
  const { tileRows: _rows, split: _split, sequences: _sequences, quantized: _output, ...rest } =
    shape;
  const key = JSON.stringify([rest, slot, context, from]);
  let known = solved.get(key);
  if (!known) solved.set(key, known = solve(shape, slot, context, from));
  return known;
}

/** `attended` has the results of the positions from `from` on. */
function solve(shape: Case, slot: number, context: number, from: number) {
  const { q, k, v } = sequenceOf(shape, slot, context);
  const images = (shape.images ?? []).filter(([, end]) => end <= context);
  const scale = 1 / Math.sqrt(shape.headDim);
  const attended = attentionReference(q, k, v, { ...shape, scale, images, from });
  return { q, k, v, images, attended, error: outputError(shape, q, k, v) };
}

/** Runs a case and compares all its rows. Values that no row may read are NaN. */
export async function assertAttention(device: Device, shape: Case): Promise<void> {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues, sequences } = shape;
  const { tileRows, split, first = 0 } = shape;
  const options = { ...shape, scale: 1 / Math.sqrt(headDim) };
  const longest = Math.max(...sequences.map(([context]) => context));
  const maxBlocks = Math.ceil(longest / BLOCK) + 1;
  const { maxSplits = Math.ceil(longest / split) + 1 } = shape;
  // Sequence i has slot (i + 2) mod 5, so that slots are not the order of rows.
  const slotOf = (i: number) => (i + 2) % SLOTS;
  const positions: number[][] = Array.from({ length: SLOTS }, () => []);
  sequences.forEach(([context], i) => {
    positions[slotOf(i)] = Array.from({ length: context }, (_, position) => position);
  });
  const cache = new PagedCache(device, { ...shape, maxBlocks }, positions);
  const [keys, values] = [cache.zeros("keys"), cache.zeros("values")];

  const columns = first + (heads + kvHeads) * headDim + (sharedValues ? 0 : kvHeads * valueDim);
  const count = sequences.reduce((sum, [, rows]) => sum + rows, 0);
  const queries = new Float32Array(count * columns).fill(NaN);
  const width = heads * valueDim;
  const expected = new Float32Array(count * width);
  const errors = new Float64Array(expected.length);
  const rows = STEP_ROW.list();
  const tiles = QUERY_TILE.list();
  sequences.forEach(([context, rowCount], i) => {
    const slot = slotOf(i);
    const firstQuery = context - rowCount;
    const { q, k, v, images, attended, error } = solvedSequence(shape, slot, context, firstQuery);
    const unread = firstSeen(shape, firstQuery);
    for (let token = 0; token < context; token++) {
      for (let head = 0; head < kvHeads; head++) {
        const from = token * kvHeads + head;
        const key = k.subarray(from * headDim, (from + 1) * headDim);
        const value = v.subarray(from * valueDim, (from + 1) * valueDim);
        keys.set(token < unread ? key.map(() => NaN) : key, cache.at("keys", slot, token, head));
        values.set(
          token < unread ? value.map(() => NaN) : value,
          cache.at("values", slot, token, head),
        );
      }
    }
    for (let position = firstQuery, row = rows.count; position < context;) {
      // A tile lies in one image, or in none.
      const [first, imageEnd] = images.find(([, end]) => position < end) ?? [context, context];
      const inImage = first <= position;
      const count = Math.min(tileRows, (inImage ? imageEnd : first) - position);
      // In decode, the end of the sequence is not known beforehand.
      const end = rowCount === 1 ? 0 : context;
      tiles.add({ firstRow: row, rows: count, end, imageEnd: inImage ? imageEnd : 0 });
      position += count;
      row += count;
    }
    for (let position = firstQuery; position < context; position++) {
      const at = (position - firstQuery) * width;
      const row = rows.count;
      const query = q.subarray(position * heads * headDim, (position + 1) * heads * headDim);
      queries.set(query, row * columns + first);
      expected.set(attended.subarray(at, at + width), row * width);
      errors.fill(error, row * width, (row + 1) * width);
      rows.add({ token: 0, position, slot, time: 0, height: 0, width: 0 });
    }
  });
  cache.write("keys", keys);
  if (!sharedValues) cache.write("values", values);

  const qkv = uploadRows(device, queries, columns);
  const y = outputRows(device, count, width, shape.quantized);
  const state = { rows: upload(device, rows.packed), table: cache.table, maxBlocks };
  const partials = device.buffer("partials", partialBytes(shape, count, maxSplits), "test");
  device.write(partials, 0, new Float32Array(partials.size / 4).fill(NaN)); // none may be read unset
  const tiling = {
    tileRows,
    split,
    maxSplits,
    tiles: upload(device, tiles.packed),
    partials,
  };
  const sinks = shape.sinks && upload(device, shape.sinks);
  const attention = device.attention(qkv, cache.layer, state, y, { ...options, sinks }, tiling);
  submit(device, (pass) => attention.encode(pass, tiles.count, longest));
  const tolerance: Tolerance = (i) => errors[i];
  await assertRows(device, y, expected, tolerance);
}
