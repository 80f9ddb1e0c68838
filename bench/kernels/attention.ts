// Attention over the KV cache, by contexts: sequences that decode, and the last rows of a prompt. On
// WebGPU by how its positions are split and its rows are tiled. And the rotation of queries and keys on
// their way there.

import {
  attentionReference,
  BLOCK,
  layerCacheBytes,
  partialBytes,
  QUERY_TILE,
  ropeFrequencies,
  ropeTable,
  rotateRowsReference,
  STEP_ROW,
  typesOf,
} from "../../kernels/mod.ts";
import { CONTEXTS, MODELS, type ModelShape } from "./shapes.ts";
import {
  type BoundCase,
  counted,
  FLOAT_TOLERANCE,
  type KernelCase,
  oneSequence,
  plainly,
  randomFloats,
  ROWS,
  some,
  type Variant,
  type Workbench,
} from "./workbench.ts";

/** Number of rows from which on they are the end of one prompt; fewer are of a sequence each. */
const PROMPT_ROWS = 17;

/** Rows and heads that are compared with the reference. */
const CHECKED = 2;

/** Base of the rotation. */
const ROPE_BASE = 10_000;

/** Values that a cache is filled with, over and over. */
const PATTERN = 2 ** 20 - 3;

/** Attention and rotation, by model, context and rows. */
export function attentionCases(): KernelCase[] {
  return Object.entries(MODELS).flatMap(([model, shape]) => {
    const heads = `${shape.heads}/${shape.kvHeads}x${shape.headDim}`;
    return ROWS.flatMap((rows): KernelCase[] => [
      ...CONTEXTS.filter((context) => context >= rows).map((context) => ({
        words: [
          "attention",
          "F16",
          model,
          heads,
          counted(context, "positions"),
          counted(rows, "rows"),
        ],
        bind: (bench: Workbench) => bindAttention(bench, shape, context, rows),
      })),
      {
        words: ["rotate", "F16", model, heads, counted(rows, "rows")],
        bind: (bench) => bindRotate(bench, shape, rows),
      },
    ]);
  });
}

function bindAttention(
  bench: Workbench,
  { heads, kvHeads, headDim }: ModelShape,
  context: number,
  rows: number,
): BoundCase {
  const { device } = bench;
  const shape = { heads, kvHeads, headDim };
  const sequences = rows < PROMPT_ROWS ? rows : 1;
  const each = rows / sequences;
  const maxBlocks = Math.ceil(context / BLOCK);
  const blocks = sequences * maxBlocks;
  const elements = layerCacheBytes(shape, blocks, typesOf("f16")) / 2;
  const pattern = Float16Array.from(randomFloats(PATTERN, 7));
  const offsets = { keys: 0, values: 12_345 };
  const cached = (part: "keys" | "values") => {
    const values = Float16Array.from(
      { length: elements },
      (_, i) => pattern[(i + offsets[part]) % PATTERN]!,
    );
    return bench.upload(values);
  };
  const cache = { keys: cached("keys"), values: cached("values"), types: typesOf("f16") };
  // An odd step is coprime to blocks only if they share no factor: a reversal always is a permutation.
  const blockAt = (sequence: number, block: number) => blocks - 1 - (sequence * maxBlocks + block);
  const table = Uint32Array.from(
    { length: blocks },
    (_, i) => blockAt(Math.floor(i / maxBlocks), i % maxBlocks),
  );
  const places = Array.from({ length: rows }, (_, row) => {
    const [sequence, at] = [Math.floor(row / each), row % each];
    return {
      token: 0,
      position: context - each + at,
      slot: sequence,
      time: 0,
      height: 0,
      width: 0,
    };
  });
  const state = {
    rows: bench.upload(STEP_ROW.pack(places)),
    table: bench.upload(table),
    maxBlocks,
  };
  const columns = (heads + 2 * kvHeads) * headDim;
  const queries = randomFloats(rows * columns, rows);
  const qkv = bench.rows(rows, columns, queries);
  const y = bench.rows(rows, heads * headDim);
  const options = { ...shape, scale: 1 / Math.sqrt(headDim) };
  const bindWith = (name: string, tileRows: number, split: number): Variant => {
    const tiles = places.flatMap((_, row) => {
      const isFirst = row % each % tileRows === 0;
      const count = Math.min(tileRows, each - row % each);
      return isFirst ? [{ firstRow: row, rows: count, end: context, imageEnd: 0 }] : [];
    });
    const maxSplits = Math.ceil(context / split);
    const operation = device.attention(qkv, cache, state, y, options, {
      tileRows,
      split,
      maxSplits,
      tiles: bench.upload(QUERY_TILE.pack(tiles)),
      partials: device.buffer("partials", partialBytes(shape, rows, maxSplits), "bench"),
    });
    const encode: Variant["encode"] = (own, pass) => own.encode(pass, tiles.length, context);
    return { name, operations: [operation], encode };
  };
  const most = device.mostTileRows(shape);
  const isGpu = device.profile.platform.name !== "cpu";
  const variants = each === 1
    ? [
      bindWith("", 1, Math.min(context, device.decodeSplit)),
      ...(isGpu ? [64, 256, 1024, 4096] : []).filter((split) => split <= context)
        .map((split) => bindWith(`splits of ${split}`, 1, split)),
    ]
    : [
      bindWith("", most, context),
      ...[1, 2, 4, 8].filter((tileRows) => tileRows < most)
        .map((tileRows) => bindWith(`tiles of ${tileRows}`, tileRows, context)),
    ];
  return {
    variants,
    counts: { rows, sequences, positions: context },
    reset: () => bench.spoil(y, rows),
    async compare() {
      const [pickedRows, pickedHeads] = [some(rows, CHECKED), some(heads, CHECKED)];
      const all = await bench.read(y, pickedRows);
      const [actual, expected]: [number[], number[]] = [[], []];
      for (const [at, row] of pickedRows.entries()) {
        const { position, slot: sequence } = places[row]!;
        for (const head of pickedHeads) {
          const first = (at * heads + head) * headDim;
          actual.push(...all.subarray(first, first + headDim));
          const kvHead = Math.floor(head * kvHeads / heads);
          const tokens = position! + 1;
          const seen = (part: "keys" | "values") =>
            Float32Array.from({ length: tokens * headDim }, (_, i) => {
              const [token, element] = [Math.floor(i / headDim), i % headDim];
              const block = blockAt(sequence!, Math.floor(token / BLOCK));
              const slot = (block * kvHeads + kvHead) * BLOCK + token % BLOCK;
              return pattern[(slot * headDim + element + offsets[part]) % PATTERN]!;
            });
          const query = new Float32Array(tokens * headDim);
          const from = row * columns + head * headDim;
          query.set(queries.subarray(from, from + headDim), position! * headDim);
          const one = { heads: 1, kvHeads: 1, headDim, scale: options.scale, from: position! };
          expected.push(...attentionReference(query, seen("keys"), seen("values"), one));
        }
      }
      return { actual, expected, tolerance: FLOAT_TOLERANCE };
    },
  };
}

function bindRotate(
  bench: Workbench,
  { heads, kvHeads, headDim }: ModelShape,
  rows: number,
): BoundCase {
  const { device } = bench;
  const shape = { heads, kvHeads, headDim };
  const rope = { rotary: headDim, base: ROPE_BASE };
  const angles = ropeTable(rope, rows);
  const maxBlocks = Math.ceil(rows / BLOCK);
  const buffer = () =>
    device.buffer("bench", layerCacheBytes(shape, maxBlocks, typesOf("f16")), "bench");
  const cache = { keys: buffer(), values: buffer(), types: typesOf("f16") };
  const places = Array.from({ length: rows }, (_, row) => ({
    ...{ token: 0, slot: 0 },
    position: row,
    ...{ time: row, height: row, width: row },
  }));
  const state = {
    rows: bench.upload(STEP_ROW.pack(places)),
    table: bench.upload(Uint32Array.from({ length: maxBlocks }, (_, block) => block)),
    maxBlocks,
  };
  const columns = (heads + 2 * kvHeads) * headDim;
  const values = randomFloats(rows * columns, rows);
  const qkv = bench.rows(rows, columns);
  const operation = device.rotate(qkv, cache, state, {
    ...shape,
    rotary: headDim,
    halfPairs: true,
    angles: bench.upload(angles),
  });
  const { frequencies } = ropeFrequencies(rope);
  return {
    variants: plainly(operation, rows),
    counts: oneSequence(rows),
    reset: () => bench.write(qkv, values),
    async compare() {
      const picked = some(rows, CHECKED);
      const all = await bench.read(qkv, picked);
      const actual = picked.flatMap((_, at) => [
        ...all.subarray(at * columns, at * columns + heads * headDim),
      ]);
      const expected = picked.flatMap((row) => {
        const turns = Float32Array.from(
          { length: headDim },
          (_, i) => (i % 2 ? Math.sin : Math.cos)(row * frequencies[i >> 1]!),
        );
        return Array.from({ length: heads }, (_, head) => {
          const first = row * columns + head * headDim;
          const own = values.slice(first, first + headDim);
          return [...rotateRowsReference(own, turns, headDim / 2)];
        }).flat();
      });
      return { actual, expected, tolerance: FLOAT_TOLERANCE };
    },
  };
}
