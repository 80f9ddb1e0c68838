// Attention over the paged cache and the merge of its splits against the reference, for decode (one
// row of each sequence) and prefill (tiles of rows): grouped heads, splits that end anywhere,
// sequences that share a dispatch.

import { assert, assertEquals } from "@std/assert";
import {
  Attention,
  attentionReference,
  BLOCK,
  type Device,
  type HeadShape,
  mostTileRows,
  partialBytes,
} from "../../kernels/mod.ts";
import { gpuTest, randomFloats, submit, upload } from "../gpu.ts";
import { assertRows, outputRows, type Tolerance, uploadRows } from "./close.ts";
import { PagedCache } from "./paged.ts";

interface Case extends HeadShape {
  half: boolean;
  quantized: boolean;
  tileRows: number;
  split: number;
  /** Positions of each sequence, and how many of them, the last ones, are queries. */
  sequences: readonly (readonly [context: number, rows: number])[];
  /** Factor of queries: large ones make weights of nearly zero and one. */
  sharpness?: number;
}

const SLOTS = 5;

/** One sequence in plain numbers: as the cache holds it, and what attention makes of it. */
function sequenceOf(shape: Case, slot: number, context: number) {
  const { heads, kvHeads, headDim, half, sharpness = 1 } = shape;
  const q = randomFloats(context * heads * headDim, slot + 1).map((value) => value * sharpness);
  let k = randomFloats(context * kvHeads * headDim, slot + 101);
  let v = randomFloats(context * kvHeads * headDim, slot + 201);
  if (half) {
    [k, v] = [new Float32Array(Float16Array.from(k)), new Float32Array(Float16Array.from(v))];
  }
  return { q, k, v };
}

/**
 * The error of an output: its weights are off by the error of their scores, and it is a mean of
 * values. A score of magnitude s, a sum of headDim products, is off by (headDim / 2 + 2) ULP of s
 * before exp(), which adds 3 ULP and 2 for each unit of its argument, at most 2 s, once in its
 * split and once in the merge; the sums over the positions add half an ULP each. A weight's error
 * counts twice, in the sum of values and in the sum that divides it.
 */
function outputError(
  shape: Case,
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  context: number,
) {
  const { headDim } = shape;
  const scale = 1 / Math.sqrt(headDim);
  const most = (values: Float32Array) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const length = (values: Float32Array) => {
    let longest = 0;
    for (let at = 0; at < values.length; at += headDim) {
      longest = Math.max(longest, Math.hypot(...values.subarray(at, at + headDim)));
    }
    return longest;
  };
  const score = scale * length(q) * length(k); // Cauchy and Schwarz
  const weight = (headDim / 2 + 2) * score + 2 * (3 + 4 * score) + context / 2;
  return 2 * weight * 2 ** -23 * most(v);
}

async function assertAttention(device: Device, shape: Case) {
  const { heads, kvHeads, headDim, sequences, tileRows, split } = shape;
  const scale = 1 / Math.sqrt(headDim);
  const longest = Math.max(...sequences.map(([context]) => context));
  const maxBlocks = Math.ceil(longest / BLOCK) + 1;
  const maxSplits = Math.ceil(longest / split) + 1;
  // Sequence i has slot (i + 2) mod 5, so that slots are not the order of rows.
  const slotOf = (i: number) => (i + 2) % SLOTS;
  const positions: number[][] = Array.from({ length: SLOTS }, () => []);
  sequences.forEach(([context], i) => {
    positions[slotOf(i)] = Array.from({ length: context }, (_, position) => position);
  });
  const cache = new PagedCache(device, { ...shape, maxBlocks }, positions);
  const [keys, values] = [new Float32Array(cache.elements), new Float32Array(cache.elements)];

  const columns = (heads + 2 * kvHeads) * headDim;
  const count = sequences.reduce((sum, [, rows]) => sum + rows, 0);
  const queries = new Float32Array(count * columns);
  const expected = new Float32Array(count * heads * headDim);
  const errors = new Float64Array(expected.length);
  const rows: number[] = [];
  const tiles: number[] = [];
  sequences.forEach(([context, rowCount], i) => {
    const slot = slotOf(i);
    const { q, k, v } = sequenceOf(shape, slot, context);
    for (let at = 0; at < k.length; at += headDim) {
      const token = at / headDim;
      const to = cache.at(slot, Math.floor(token / kvHeads), token % kvHeads);
      keys.set(k.subarray(at, at + headDim), to);
      values.set(v.subarray(at, at + headDim), to);
    }
    const attended = attentionReference(q, k, v, { ...shape, scale });
    const error = outputError(shape, q, k, v, context);
    for (let first = 0; first < rowCount; first += tileRows) {
      tiles.push(rows.length / 4 + first, Math.min(tileRows, rowCount - first));
    }
    const width = heads * headDim;
    for (let position = context - rowCount; position < context; position++) {
      const row = rows.length / 4;
      queries.set(q.subarray(position * width, (position + 1) * width), row * columns);
      expected.set(attended.subarray(position * width, (position + 1) * width), row * width);
      errors.fill(error, row * width, (row + 1) * width);
      rows.push(0, position, slot, 0);
    }
  });
  cache.write(cache.layer.keys, keys);
  cache.write(cache.layer.values, values);

  const qkv = uploadRows(device, queries, columns);
  const y = outputRows(device, count, heads * headDim, shape.quantized);
  const state = { rows: upload(device, Uint32Array.from(rows)), table: cache.table, maxBlocks };
  const partials = device.buffer("partials", partialBytes(shape, count, maxSplits), "test");
  device.write(partials, 0, new Float32Array(partials.size / 4).fill(NaN)); // none may be read unset
  const tiling = {
    tileRows,
    split,
    maxSplits,
    tiles: upload(device, Uint32Array.from(tiles)),
    partials,
  };
  const attention = new Attention(device, qkv, cache.layer, state, y, { ...shape, scale }, tiling);
  submit(device, (pass) => attention.encode(pass, tiles.length / 2, longest));
  const tolerance: Tolerance = (i) => errors[i];
  await assertRows(device, y, expected, tolerance);
}

const DECODE = [[1, 1], [31, 1], [32, 1], [33, 1], [200, 1]] as const;

gpuTest(
  "Attention decodes five sequences, three heads a group, one or four splits",
  async (device) => {
    const shape = { heads: 6, kvHeads: 2, headDim: 80, half: false, quantized: true, tileRows: 1 };
    await assertAttention(device, { ...shape, split: 64, sequences: DECODE });
    await assertAttention(device, { ...shape, split: 224, sequences: DECODE });
  },
);

gpuTest("Attention decodes eight heads a group from a cache of f16", async (device) => {
  const shape = { heads: 8, kvHeads: 1, headDim: 64, half: true, quantized: false, tileRows: 1 };
  await assertAttention(device, { ...shape, split: 50, sequences: DECODE });
  // Queries as large as this give all weight to a few positions.
  await assertAttention(device, { ...shape, split: 50, sequences: DECODE, sharpness: 20 });
});

gpuTest("Attention prefills tiles of one to eight rows", async (device) => {
  const sequences = [[8, 8], [33, 33], [70, 5], [200, 1], [64, 12]] as const;
  const shape = { heads: 5, kvHeads: 5, headDim: 8, half: true, quantized: false, tileRows: 8 };
  await assertAttention(device, { ...shape, split: 32, sequences });
  await assertAttention(device, { ...shape, split: 224, sequences });
});

gpuTest("Attention prefills heads of 128, three a group", async (device) => {
  const sequences = [[1, 1], [32, 32], [130, 3]] as const;
  const shape = { heads: 3, kvHeads: 1, headDim: 128, half: false, quantized: true, tileRows: 2 };
  await assertAttention(device, { ...shape, split: 64, sequences });
});

gpuTest("mostTileRows() fits the workgroup memory and is one to eight", (device) => {
  for (const group of [1, 3, 8, 16]) {
    for (const headDim of [8, 64, 128, 256]) {
      const rows = mostTileRows(device, { heads: group, kvHeads: 1, headDim });
      assert(Number.isInteger(rows) && rows >= 1 && rows <= 8, `${rows} rows`);
    }
  }
  assertEquals(mostTileRows(device, { heads: 4096, kvHeads: 1, headDim: 8 }), 1);
  return Promise.resolve();
});
