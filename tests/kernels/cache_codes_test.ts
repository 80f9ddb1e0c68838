// KV caches of codes: what devices write is what the reference makes of the same keys and values, and
// attention reads it so, for heads of whole groups and of others, alone and in tiles.

import {
  BLOCK,
  CACHE_GROUP,
  cacheGroups,
  type CacheType,
  type CacheTypes,
  decodeCache,
  encodeCache,
  fittingTypes,
  headBlockBytes,
  layerCacheBytes,
  STEP_ROW,
  throughCache,
  typesOf,
} from "../../kernels/mod.ts";
import { deviceTest, readWords, submit, upload } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertAttention } from "./attention_case.ts";
import { assert, assertEquals } from "@std/assert";

const CODED = ["q8_0", "q4_0"] as const;

/** Steps of a code that its value may be off by; of q4_0 the end without a code of its own is. */
const STEPS = { q8_0: 0.51, q4_0: 1.01 };

function peakOf(values: Float32Array): number {
  return values.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0);
}

Deno.test("codes are those of GGML's formats, by scales that are rounded to f16", () => {
  const values = Float32Array.from({ length: 32 }, (_, i) => (i - 20) / 4); // -5 to 2.75
  const eights = decodeCache("q8_0", 32, encodeCache("q8_0", 32, values));
  const scale = Math.f16round(5 / 127);
  assertEquals(eights[0], -127 * scale);
  assertEquals(eights[31], Math.round(2.75 / scale) * scale);
  const fours = decodeCache("q4_0", 32, encodeCache("q4_0", 32, values));
  assertEquals([fours[0], fours[31], fours[20]], [-5, 4 * 0.625, 0]);
  const bytes = encodeCache("q4_0", 32, values);
  assertEquals(bytes.length, BLOCK * (16 + 2));
  assertEquals(bytes[0], 0x2 << 4, "elements 0 and 4: -8 and -6.4");
});

Deno.test("codes halve the bytes of f16, and quarter them", () => {
  for (const dim of [64, 128]) {
    const share = (type: CacheType) => headBlockBytes(type, dim) / headBlockBytes("f16", dim);
    assertEquals([share("q8_0"), share("q4_0")], [34 / 64, 18 / 64]);
  }
  const shape = { heads: 2, kvHeads: 2, headDim: 20, valueDim: 24 };
  assertEquals(fittingTypes(typesOf("q4_0"), shape), { keys: "q8_0", values: "q4_0" });
  const types: CacheTypes = { keys: "q8_0", values: "q4_0" };
  assertEquals(fittingTypes(types, { ...shape, sharedValues: true }), typesOf("q8_0"));
});

for (const type of CODED) {
  Deno.test(`values are off by ${STEPS[type]} steps of a code at most: ${type}`, () => {
    for (const dim of [8, 32, 40, 64, 80]) {
      const values = randomFloats(70 * dim, dim);
      const coded = throughCache(type, dim, values);
      for (let at = 0; at < values.length; at += CACHE_GROUP) {
        const first = Math.floor(at / dim) * dim + Math.floor(at % dim / CACHE_GROUP) * CACHE_GROUP;
        const end = Math.min(first + CACHE_GROUP, Math.floor(at / dim) * dim + dim);
        const step = peakOf(values.subarray(first, end)) / (type === "q8_0" ? 127 : 8);
        for (let i = first; i < end; i++) {
          assert(Math.abs(coded[i]! - values[i]!) <= STEPS[type] * step);
        }
      }
    }
    const faulty = Float32Array.of(1, NaN, 2, 3, 4, 5, 6, 7);
    assert(throughCache(type, 8, faulty).every(Number.isNaN));
  });

  deviceTest(`Rotate writes codes of turned keys and of values: ${type}`, async (device) => {
    for (
      const shape of [
        { heads: 3, kvHeads: 3, headDim: 40, valueDim: 24, rotary: 16 },
        { heads: 0, kvHeads: 1, headDim: 8, rotary: 0 },
      ]
    ) {
      await assertWritten(device, shape, typesOf(type));
    }
    const mixed = { heads: 4, kvHeads: 2, headDim: 64, rotary: 64 };
    await assertWritten(device, mixed, { keys: type, values: "f16" });
  });

  deviceTest(`Attention reads codes as they are: ${type}`, async (device) => {
    const sequences = [[1, 1], [33, 1], [150, 1]] as const;
    const common = { half: false, quantized: false, sequences, type, split: 128 };
    await assertAttention(device, { ...common, heads: 6, kvHeads: 2, headDim: 64, tileRows: 1 });
    await assertAttention(device, { ...common, heads: 8, kvHeads: 1, headDim: 40, tileRows: 1 });
    const shared = { headDim: 72, valueDim: 64, sharedValues: true };
    await assertAttention(device, { ...common, heads: 4, kvHeads: 1, ...shared, tileRows: 1 });
    const prompts = { ...common, sequences: [[40, 40], [70, 9]] as const, split: 2 ** 20 };
    await assertAttention(device, { ...prompts, heads: 4, kvHeads: 4, headDim: 32, tileRows: 4 });
    await assertAttention(device, {
      ...prompts,
      ...{ heads: 2, kvHeads: 1, headDim: 16, valueDim: 48, tileRows: 4, quantized: true },
      window: { kind: "sliding", size: 30 },
    });
  });
}

interface Written {
  heads: number;
  kvHeads: number;
  headDim: number;
  valueDim?: number;
  rotary: number;
}

/** Has a device write two sequences' rows, as floats and as these types, and compares both. */
async function assertWritten(
  device: Parameters<Parameters<typeof deviceTest>[1]>[0],
  shape: Written,
  types: CacheTypes,
): Promise<void> {
  const { heads, kvHeads, headDim, valueDim = headDim, rotary } = shape;
  const columns = (heads + kvHeads) * headDim + kvHeads * valueDim;
  const rows = 45; // 40 of one sequence, from position 27 on, and 5 of another
  const places = Array.from(
    { length: rows },
    (_, row) => ({
      ...{ token: 1, time: 0, height: 0, width: 0 },
      ...row < 40 ? { position: 27 + row, slot: 0 } : { position: row - 40, slot: 1 },
    }),
  );
  const turns = Float32Array.from({ length: 256 * rotary }, (_, i) => {
    const angle = Math.floor(i / rotary) * 0.1 * (1 + Math.floor(i % rotary / 2));
    return i % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
  });
  const written = async (types: CacheTypes) => {
    const size = (part: "keys" | "values") => layerCacheBytes(shape, 5, types, part);
    const buffers = {
      keys: device.buffer("keys", size("keys"), "test"),
      values: device.buffer("values", size("values"), "test"),
    };
    const operation = device.rotate(
      { columns, stride: columns, floats: upload(device, randomFloats(rows * columns, 7)) },
      { ...buffers, types },
      {
        rows: upload(device, STEP_ROW.pack(places)),
        table: upload(device, Uint32Array.of(3, 0, 2, 4, 1, 1)),
        maxBlocks: 3,
      },
      {
        ...shape,
        halfPairs: true,
        ...(rotary > 0 && {
          angles: upload(device, Float32Array.of(...turns, ...turns.subarray(0, rotary * 4))),
        }),
      },
    );
    submit(device, (pass) => operation.encode(pass, rows));
    const read = async (part: "keys" | "values") =>
      new Uint8Array((await readWords(device, buffers[part], size(part) / 4)).buffer);
    return {
      keys: decodeCache(types.keys, headDim, await read("keys")),
      values: decodeCache(types.values, valueDim, await read("values")),
    };
  };
  const [floats, coded] = [await written(typesOf("f32")), await written(types)];
  for (const [part, dim] of [["keys", headDim], ["values", valueDim]] as const) {
    const type = types[part];
    assertEquals(coded[part].length, floats[part].length);
    assert(floats[part].some((value) => value !== 0));
    for (let head = 0; head < floats[part].length; head += dim) {
      for (let group = 0; group < cacheGroups(dim); group++) {
        const [first, end] = [group * CACHE_GROUP, Math.min(dim, (group + 1) * CACHE_GROUP)];
        const own = floats[part].subarray(head + first, head + end);
        const step = peakOf(own) / (type === "q8_0" ? 127 : type === "q4_0" ? 8 : 1024);
        const most = type === "q8_0" || type === "q4_0" ? STEPS[type] : 1;
        own.forEach((value, i) => {
          const off = Math.abs(coded[part][head + first + i]! - value);
          assert(off <= most * step + 1e-7, `${part} of ${type}: off by ${off / step} steps`);
        });
      }
    }
  }
}
