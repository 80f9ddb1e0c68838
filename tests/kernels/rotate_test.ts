// RoPE on queries and keys, and keys and values on their way into the paged cache, against the
// rotation by the angle in double precision: both pairings, whole and part of a head, all caches,
// each half of the work alone, and positions of three parts. On a GPU it is always one dispatch.

import {
  BLOCK,
  CACHE_GROUP,
  type CacheType,
  type CacheTypes,
  type Device,
  type HeadShape,
  isCoded,
  type Norm,
  normReference,
  type Operation,
  type Pass,
  ropeFrequencies,
  type RopeOptions,
  ropeTable,
  STEP_ROW,
  typesOf,
} from "../../kernels/mod.ts";
import { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { deviceTest, submit, upload } from "../gpu.ts";
import { share } from "../share.ts";
import { randomFloats } from "../numbers.ts";
import { assertClose, assertRows, type Tolerance, ULP, uploadRows } from "./close.ts";
import { PagedCache } from "./paged.ts";
import { assertEquals } from "@std/assert";

interface Case extends HeadShape {
  rotary: number;
  rotaryStart?: number;
  halfPairs: boolean;
  half: boolean;
  /** Types of the cache. Default: those of `half`. */
  types?: CacheTypes;
  first?: number;
  sections?: Pick<RopeOptions, "sections" | "interleaved">;
  /** The part of the position that rotates each pair, 0 to 2; any of them where none does. */
  partOf?: string;
  /** Epsilons of the norms of heads, and whether they have weights: one for all heads, or one each. */
  normed?: { queries?: number; keys?: number; weights?: "shared" | "each" };
}

/** Position and slot of each row, on both sides of the edges of blocks and of tables. */
const ROWS = [[0, 1], [1, 0], [31, 0], [32, 1], [255, 0], [256, 1], [8191, 2], [100000, 0]];
const CONTEXT = 100001;
const LENGTH = 1.25;

/** Rotary positions of those rows that stand for images, where there are sections. */
const PLACES = new Map([[2, [7, 12, 300]], [5, [256, 255, 257]], [7, [9000, 9003, 9001]]]);

/** The three parts of a row's rotary position; that of a text is its position less a delta of 1. */
function partsOf(row: number, { sections }: Case): number[] {
  const [position] = ROWS[row];
  const moment = Math.max(0, position - 1);
  return sections ? PLACES.get(row) ?? [moment, moment, moment] : [position, position, position];
}

/** One head turned to its position. Errors are relative to the length of each pair. */
function rotateReference(head: Float32Array, row: number, shape: Case, error: number) {
  const { rotary, rotaryStart = 0, halfPairs, partOf = "0".repeat(rotary / 2) } = shape;
  const { frequencies } = ropeFrequencies({ rotary, base: 10000, ...shape.sections });
  const parts = partsOf(row, shape);
  const rotated = head.slice();
  const errors = Float64Array.from(head, (value) => error * Math.abs(value));
  frequencies.forEach((frequency, pair) => {
    const position = parts[Number(partOf[pair])];
    const first = rotaryStart + (halfPairs ? pair : 2 * pair);
    const second = first + (halfPairs ? rotary / 2 : 1);
    const [x, y] = [head[first], head[second]];
    const cos = LENGTH * Math.cos(position * frequency);
    const sin = LENGTH * Math.sin(position * frequency);
    rotated[first] = x * cos - y * sin;
    rotated[second] = y * cos + x * sin;
    // Four table entries, the turn of one by the other, the turn of the pair: six products and
    // four sums, each half an ULP of at most the pair's length, rounded up.
    errors[first] = errors[second] = (8 * ULP * LENGTH + error) * Math.hypot(x, y);
  });
  return { rotated, errors };
}

/** How many dispatches an operation of a GPU records. */
function dispatchesOf(operation: Operation): number {
  let count = 0;
  const pass = { setPipeline() {}, setBindGroup() {}, dispatchWorkgroups: () => count++ };
  operation.encode(pass as unknown as Pass, ROWS.length);
  return count;
}

async function assertRotated(device: Device, shape: Case) {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = shape;
  const { first = 0, rotary, normed } = shape;
  const valueHeads = sharedValues ? 0 : kvHeads;
  // Four columns behind the heads, too, are none of Rotate's business.
  const columns = first + (heads + kvHeads) * headDim + valueHeads * valueDim + 4;
  const values = randomFloats(ROWS.length * columns, headDim);
  const qkv = uploadRows(device, values, columns);
  const slots = [0, 1, 2].map((slot) =>
    ROWS.filter((row) => row[1] === slot).map(([position]) => position)
  );
  const maxBlocks = Math.ceil(CONTEXT / BLOCK);
  const cache = new PagedCache(device, { ...shape, maxBlocks }, slots);
  const rope = { rotary, base: 10000, attentionFactor: LENGTH, ...shape.sections };
  const angles = ropeTable(rope, CONTEXT);
  const rows = STEP_ROW.pack(ROWS.map(([position, slot], row) => {
    const [time, height, width] = partsOf(row, shape);
    return { token: 3, position, slot, time, height, width };
  }));
  const state = { rows: upload(device, rows), table: cache.table, maxBlocks };
  const weightsOf = (count: number) =>
    normed?.weights && randomFloats(headDim * (normed.weights === "each" ? count : 1), count);
  const weights = { queries: weightsOf(heads), keys: weightsOf(kvHeads) };
  const normOf = (kind: "queries" | "keys"): Norm | undefined => {
    const epsilon = normed?.[kind];
    if (epsilon === undefined) return undefined;
    const weightPerVector = normed?.weights === "each";
    const own = weights[kind];
    return {
      kind: "rms",
      epsilon,
      ...(own ? { weight: upload(device, own), weightPerVector } : {}),
    };
  };
  const rotate = device.rotate(qkv, kvHeads > 0 ? cache.layer : undefined, state, {
    ...shape,
    norms: { queries: normOf("queries"), keys: normOf("keys") },
    ...(rotary > 0 ? { angles: upload(device, angles) } : {}),
  });
  submit(device, (pass) => rotate.encode(pass, ROWS.length));
  if (device instanceof WebGpuDevice) assertEquals(dispatchesOf(rotate), 1);

  /** A head after its norm. */
  const normedHead = (x: Float32Array, kind: "queries" | "keys", head: number) => {
    const epsilon = normed?.[kind];
    if (epsilon === undefined) return x;
    const own = weights[kind];
    const at = normed?.weights === "each" ? head * headDim : 0;
    const weight = own?.subarray(at, at + headDim);
    return normReference(x, headDim, { kind: "rms", epsilon, ...(weight ? { weight } : {}) });
  };
  // Sum of squares, its root, factor and weight: each product and sum is at most half an ULP off, and
  // all but the last few of the sum's are below its own.
  const normError = normed ? (8 + headDim / 8) * ULP * LENGTH : 0;

  const expected = values.slice();
  const errors = new Float64Array(expected.length);
  const keys = cache.zeros("keys");
  const keyErrors = new Float64Array(keys.length);
  const cachedValues = cache.zeros("values");
  ROWS.forEach(([position, slot], row) => {
    const start = row * columns + first;
    const headOf = (head: number) =>
      values.subarray(start + head * headDim, start + (head + 1) * headDim);
    for (let head = 0; head < heads; head++) {
      const x = normedHead(headOf(head), "queries", head);
      const turned = rotateReference(x, row, shape, normError);
      expected.set(turned.rotated, start + head * headDim);
      errors.set(turned.errors, start + head * headDim);
    }
    for (let head = 0; head < kvHeads; head++) {
      const at = cache.at("keys", slot, position, head);
      const x = normedHead(headOf(heads + head), "keys", head);
      // A device may norm keys where they are, before they go into the cache.
      const own = start + (heads + head) * headDim;
      if (normed) errors.fill(Infinity, own, own + headDim);
      const turned = rotateReference(x, row, shape, normError);
      keys.set(turned.rotated, at);
      keyErrors.set(turned.errors, at);
      const value = start + (heads + kvHeads) * headDim + head * valueDim;
      const to = cache.at("values", slot, position, head);
      cachedValues.set(values.subarray(value, value + (sharedValues ? 0 : valueDim)), to);
    }
  });
  await assertRows(device, qkv, expected, (i) => errors[i]);
  if (kvHeads === 0) return;
  const { types } = cache.layer;
  const keyRounding = roundingOf(types.keys, headDim, keys, keyErrors);
  assertClose(await cache.read("keys"), keys, (i) => keyErrors[i] + keyRounding(i));
  if (sharedValues) return;
  const rounding = roundingOf(types.values, valueDim, cachedValues);
  assertClose(await cache.read("values"), cachedValues, rounding);
}

/** The most by which a cache of a type changes each of these elements, or those of such errors. */
function roundingOf(
  type: CacheType,
  dim: number,
  values: Float32Array,
  errors?: Float64Array,
): Tolerance {
  // WGSL leaves open which way pack2x16float rounds: one unit of a half, 2^-10, or 2^-24 at least.
  const half = (value: number) => value === 0 ? 0 : 2 ** -10 * Math.abs(value) + 2 ** -24;
  if (!isCoded(type)) return (i) => type === "f16" ? half(values[i]) : 0;
  // Half a step, which is the largest magnitude of a group over the largest code; of four bits a
  // whole one at the end that has no code of its own. The step is rounded as a half.
  const [steps, most] = type === "q8_0" ? [0.5, 127] : [1, 8];
  const roundings = new Float64Array(values.length);
  for (let first = 0; first < values.length;) {
    const end = Math.min(first + CACHE_GROUP, first - first % dim + dim);
    let [peak, error] = [0, 0];
    for (let at = first; at < end; at++) {
      peak = Math.max(peak, Math.abs(values[at]));
      error = Math.max(error, errors?.[at] ?? 0);
    }
    const step = (peak + error) / most;
    roundings.fill(steps * step + most * half(step) + error, first, end);
    first = end;
  }
  return (i) => roundings[i];
}

deviceTest("Rotate turns pairs of neighbours, into a cache of f32", async (device) => {
  const shape = { heads: 3, kvHeads: 1, headDim: 64, rotary: 64, halfPairs: false, half: false };
  await assertRotated(device, shape);
});

deviceTest("Rotate turns pairs half a head apart, into a cache of f16", async (device) => {
  const shape = { heads: 2, kvHeads: 2, headDim: 80, rotary: 80, halfPairs: true, half: true };
  await assertRotated(device, shape);
});

deviceTest("Rotate leaves the rest of partly rotated heads", async (device) => {
  const shape = { heads: 5, kvHeads: 1, headDim: 80, rotary: 32, halfPairs: true, half: true };
  await assertRotated(device, shape);
  await assertRotated(device, { ...shape, headDim: 64, rotary: 20, halfPairs: false, half: false });
});

deviceTest("Rotate turns parts of heads that are no whole vectors of pairs", async (device) => {
  for (const halfPairs of [false, true]) {
    for (const half of [false, true]) {
      const shape = { heads: 2, kvHeads: 2, headDim: 24, halfPairs, half };
      await assertRotated(device, { ...shape, rotary: 20 });
      await assertRotated(device, { ...shape, rotary: 4, rotaryStart: 8 });
    }
  }
});

deviceTest("Rotate turns the end of a head, and takes shorter or longer values", async (device) => {
  const shape = { heads: 3, kvHeads: 2, headDim: 48, rotary: 16, rotaryStart: 32, half: true };
  await assertRotated(device, { ...shape, valueDim: 20, halfPairs: false });
  await assertRotated(device, { ...shape, valueDim: 52, halfPairs: true, rotaryStart: 20 });
});

deviceTest("Rotate caches keys that are values, too", async (device) => {
  const shape = { kvHeads: 1, headDim: 72, valueDim: 64, sharedValues: true, half: true };
  const rope = { rotary: 8, rotaryStart: 64, halfPairs: false };
  await assertRotated(device, { ...shape, ...rope, heads: 0, first: 12 });
});

deviceTest("Rotate norms heads before it turns them", async (device) => {
  const shape = { heads: 4, kvHeads: 2, headDim: 128, rotary: 128, halfPairs: true, half: true };
  const normed = { queries: 1e-6, keys: 1e-3, weights: "shared" } as const;
  await assertRotated(device, { ...shape, normed });
  await assertRotated(device, { ...shape, normed, half: false, halfPairs: false, rotary: 64 });
  await assertRotated(device, { ...shape, headDim: 80, valueDim: 52, rotary: 20, normed });
  await assertRotated(device, { ...shape, normed: { ...normed, weights: "each" }, first: 8 });
});

deviceTest(
  "Rotate norms heads without weights, of queries alone, or without turning them",
  async (device) => {
    const shape = { heads: 3, kvHeads: 1, headDim: 64, rotary: 64, halfPairs: false, half: false };
    await assertRotated(device, { ...shape, normed: { queries: 1e-6, keys: 1e-6 } });
    const queries = { queries: 1e-5, weights: "shared" } as const;
    await assertRotated(device, { ...shape, kvHeads: 0, normed: queries });
    await assertRotated(device, { ...shape, rotary: 0, normed: { ...queries, keys: 1e-5 } });
  },
);

deviceTest("Rotate norms heads that turn by the parts of positions of images", async (device) => {
  const normed = { queries: 1e-6, keys: 1e-3, weights: "shared" } as const;
  const shape = { heads: 2, kvHeads: 2, headDim: 40, halfPairs: true, half: false, normed };
  await assertRotated(device, {
    ...{ ...shape, rotary: 32 },
    sections: { sections: [3, 4, 6, 0] },
    partOf: "0001111222222000",
  });
  await assertRotated(device, {
    ...{ ...shape, rotary: 40, half: true, valueDim: 36 },
    normed: { ...normed, weights: "each" },
    sections: { sections: [6, 5, 5, 3], interleaved: true },
    partOf: "01201201201201200000",
  });
});

/** The first ones every day: drivers on the CPU compile for seconds what writes codes. */
const CODES: CacheTypes[] = [
  { keys: "q4_0", values: "q8_0" },
  { keys: "q8_0", values: "f16" },
  { keys: "q8_0", values: "q8_0" },
  { keys: "q4_0", values: "q4_0" },
  { keys: "f32", values: "q4_0" },
];

for (const types of CODES.slice(0, share(2, CODES.length))) {
  const name = `Rotate turns keys of ${types.keys} and stores values of ${types.values}`;
  const shape = { heads: 3, kvHeads: 2, half: false, types, halfPairs: true };

  deviceTest(name, async (device) => {
    await assertRotated(device, { ...shape, headDim: 64, rotary: 64 });
    const neighbours = { ...shape, halfPairs: false };
    await assertRotated(device, {
      ...neighbours,
      headDim: 40,
      valueDim: 96,
      rotary: 20,
      first: 12,
    });
  });

  deviceTest(`${name}, after norms`, async (device) => {
    const normed = { queries: 1e-6, keys: 1e-3, weights: "shared" } as const;
    await assertRotated(device, { ...shape, headDim: 128, rotary: 128, normed });
    const each = { ...normed, weights: "each" } as const;
    await assertRotated(device, { ...shape, headDim: 96, valueDim: 40, rotary: 48, normed: each });
  });
}

deviceTest("Rotate stores codes of short, long and partly turned heads", async (device) => {
  const types: CacheTypes = { keys: "q4_0", values: "q8_0" };
  const shape = { heads: 3, kvHeads: 9, half: false, types, halfPairs: true };
  await assertRotated(device, { ...shape, heads: 0, headDim: 8, rotary: 0 });
  await assertRotated(device, { ...shape, headDim: 80, rotary: 32, rotaryStart: 16 });
  await assertRotated(device, { ...shape, headDim: 256, valueDim: 20, rotary: 64 });
});

deviceTest("Rotate stores codes where only queries or keys are normed", async (device) => {
  const types: CacheTypes = { keys: "q8_0", values: "q4_0" };
  const shape = { heads: 2, kvHeads: 2, half: false, types, halfPairs: false };
  const queries = { queries: 1e-5, weights: "shared" } as const;
  await assertRotated(device, { ...shape, headDim: 80, rotary: 0, normed: queries });
  await assertRotated(device, { ...shape, headDim: 256, rotary: 64, normed: { keys: 1e-5 } });
});

deviceTest("Rotate stores codes of keys that turn by parts of positions", async (device) => {
  const types: CacheTypes = { keys: "q8_0", values: "q8_0" };
  const shape = { heads: 2, kvHeads: 2, half: false, types, halfPairs: true };
  await assertRotated(device, {
    ...{ ...shape, headDim: 40, rotary: 40 },
    sections: { sections: [6, 5, 5, 3], interleaved: true },
    partOf: "01201201201201200000",
  });
  await assertRotated(device, {
    ...{ ...shape, headDim: 80, rotary: 32, rotaryStart: 48 },
    sections: { sections: [3, 4, 6, 0] },
    partOf: "0001111222222000",
    normed: { queries: 1e-6, keys: 1e-3, weights: "shared" },
  });
});

deviceTest("Rotate stores codes of keys that are values, too", async (device) => {
  for (const type of ["q8_0", "q4_0"] as const) {
    const shape = { kvHeads: 1, headDim: 72, valueDim: 64, sharedValues: true, half: false };
    const rope = { rotary: 8, rotaryStart: 64, halfPairs: false };
    await assertRotated(device, { ...shape, ...rope, heads: 0, first: 12, types: typesOf(type) });
  }
});

deviceTest("Rotate turns queries alone, or caches alone", async (device) => {
  const shape = { headDim: 16, halfPairs: true, half: false, first: 8 };
  await assertRotated(device, { ...shape, heads: 5, kvHeads: 0, rotary: 16 });
  await assertRotated(device, { ...shape, heads: 0, kvHeads: 3, rotary: 0 });
  await assertRotated(device, { ...shape, heads: 2, kvHeads: 1, rotary: 0 });
});

deviceTest(
  "Rotate turns pairs by the parts of positions of images, as Qwen-VL does",
  async (device) => {
    const shape = { heads: 2, kvHeads: 1, headDim: 40, halfPairs: true, half: false };
    await assertRotated(device, {
      ...shape,
      rotary: 32,
      sections: { sections: [3, 4, 6, 0] },
      partOf: "0001111222222000",
    });
    await assertRotated(device, {
      ...shape,
      rotary: 40,
      sections: { sections: [6, 5, 5, 3], interleaved: true },
      partOf: "01201201201201200000",
    });
  },
);
