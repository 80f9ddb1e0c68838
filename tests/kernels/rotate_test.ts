// RoPE on queries and keys, and keys and values on their way into the paged cache, against the
// rotation by the angle in double precision: both pairings, whole and part of a head, both caches.

import {
  BLOCK,
  type Device,
  type HeadShape,
  ropeFrequencies,
  ropeTables,
  Rotate,
} from "../../kernels/mod.ts";
import { gpuTest, randomFloats, submit, upload } from "../gpu.ts";
import { assertClose, assertRows, ULP, uploadRows } from "./close.ts";
import { PagedCache } from "./paged.ts";

interface Case extends HeadShape {
  rotary: number;
  halfPairs: boolean;
  half: boolean;
}

/** Position and slot of each row, on both sides of the edges of blocks and of tables. */
const ROWS = [[0, 1], [1, 0], [31, 0], [32, 1], [255, 0], [256, 1], [8191, 2], [100000, 0]];
const CONTEXT = 100001;
const LENGTH = 1.25;

/** One head turned to its position. Errors are relative to the length of each pair. */
function rotateReference(head: Float32Array, position: number, shape: Case) {
  const { rotary, halfPairs } = shape;
  const { frequencies } = ropeFrequencies({ rotary, base: 10000 });
  const rotated = head.slice();
  const errors = new Float64Array(head.length);
  frequencies.forEach((frequency, pair) => {
    const first = halfPairs ? pair : 2 * pair;
    const second = halfPairs ? pair + rotary / 2 : 2 * pair + 1;
    const [x, y] = [head[first], head[second]];
    const cos = LENGTH * Math.cos(position * frequency);
    const sin = LENGTH * Math.sin(position * frequency);
    rotated[first] = x * cos - y * sin;
    rotated[second] = y * cos + x * sin;
    // Four table entries, the turn of one by the other, the turn of the pair: six products and
    // four sums, each half an ULP of at most the pair's length, rounded up.
    errors[first] = errors[second] = 8 * ULP * LENGTH * Math.hypot(x, y);
  });
  return { rotated, errors };
}

async function assertRotated(device: Device, shape: Case) {
  const { heads, kvHeads, headDim, half } = shape;
  const columns = (heads + 2 * kvHeads) * headDim;
  const values = randomFloats(ROWS.length * columns, headDim);
  const qkv = uploadRows(device, values, columns);
  const slots = [0, 1, 2].map((slot) =>
    ROWS.filter((row) => row[1] === slot).map(([position]) => position)
  );
  const maxBlocks = Math.ceil(CONTEXT / BLOCK);
  const cache = new PagedCache(device, { ...shape, maxBlocks }, slots);
  const tables = ropeTables({ ...shape, base: 10000, attentionFactor: LENGTH }, CONTEXT);
  const rows = Uint32Array.from(ROWS.flatMap(([position, slot]) => [0, position, slot, 0]));
  const state = { rows: upload(device, rows), table: cache.table, maxBlocks };
  const rotate = new Rotate(device, qkv, cache.layer, state, {
    ...shape,
    lowTurns: upload(device, tables.low),
    highTurns: upload(device, tables.high),
  });
  submit(device, (pass) => rotate.encode(pass, ROWS.length));

  const expected = values.slice();
  const errors = new Float64Array(expected.length);
  const keys = new Float32Array(cache.elements);
  const keyErrors = new Float64Array(keys.length);
  const cachedValues = new Float32Array(keys.length);
  ROWS.forEach(([position, slot], row) => {
    const headOf = (head: number) => {
      const from = row * columns + head * headDim;
      return values.subarray(from, from + headDim);
    };
    for (let head = 0; head < heads; head++) {
      const turned = rotateReference(headOf(head), position, shape);
      expected.set(turned.rotated, row * columns + head * headDim);
      errors.set(turned.errors, row * columns + head * headDim);
    }
    for (let head = 0; head < kvHeads; head++) {
      const at = cache.at(slot, position, head);
      const turned = rotateReference(headOf(heads + head), position, shape);
      keys.set(turned.rotated, at);
      keyErrors.set(turned.errors, at);
      cachedValues.set(headOf(heads + kvHeads + head), at);
    }
  });
  await assertRows(device, qkv, expected, (i) => errors[i]);
  // WGSL leaves open which way pack2x16float rounds: one unit of a half, 2^-10, or 2^-24 at least.
  const rounding = (value: number) => half ? 2 ** -10 * Math.abs(value) + 2 ** -24 : 0;
  assertClose(
    await cache.read(cache.layer.keys),
    keys,
    (i) => keyErrors[i] + (keys[i] === 0 ? 0 : rounding(keys[i])),
  );
  assertClose(
    await cache.read(cache.layer.values),
    cachedValues,
    (i) => cachedValues[i] === 0 ? 0 : rounding(cachedValues[i]),
  );
}

gpuTest("Rotate turns pairs of neighbours, into a cache of f32", async (device) => {
  const shape = { heads: 3, kvHeads: 1, headDim: 64, rotary: 64, halfPairs: false, half: false };
  await assertRotated(device, shape);
});

gpuTest("Rotate turns pairs half a head apart, into a cache of f16", async (device) => {
  const shape = { heads: 2, kvHeads: 2, headDim: 80, rotary: 80, halfPairs: true, half: true };
  await assertRotated(device, shape);
});

gpuTest("Rotate leaves the rest of partly rotated heads", async (device) => {
  const shape = { heads: 5, kvHeads: 1, headDim: 80, rotary: 32, halfPairs: true, half: true };
  await assertRotated(device, shape);
  await assertRotated(device, { ...shape, headDim: 64, rotary: 20, halfPairs: false, half: false });
});
