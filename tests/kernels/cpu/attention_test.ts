// Attention of the CPU device beyond what every device is tested for: tiles of prompts with all that
// scores go through, contexts of several parts, and that a row has the same bits in a tile and alone, on
// any number of threads.

import { assertEquals } from "@std/assert";
import {
  type AttentionOptions,
  BLOCK,
  type CacheType,
  type Device,
  encodeCache,
  openDevice,
  QUERY_TILE,
  STEP_ROW,
  typesOf,
} from "../../../kernels/mod.ts";
import { cpuTest, readFloats, submit, upload } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { assertAttention, type Case } from "../attention_case.ts";

/** Prompts and parts of prompts that end before, at and behind the ends of blocks and of parts. */
const SEQUENCES = [[31, 31], [33, 3], [255, 17], [256, 16], [289, 40]] as const;

const TILES = { quantized: false, tileRows: 8, split: 2 ** 20, sequences: SEQUENCES };

/** How many query heads share a key, and how long heads are: of no whole loop, too. */
const SHAPES = [
  { heads: 1, kvHeads: 1, headDim: 20 },
  { heads: 4, kvHeads: 2, headDim: 64 },
  { heads: 3, kvHeads: 1, headDim: 72 },
  { heads: 10, kvHeads: 2, headDim: 12 },
  { heads: 7, kvHeads: 1, headDim: 8, valueDim: 36 },
];

for (const half of [false, true]) {
  for (const shape of SHAPES) {
    const share = shape.heads / shape.kvHeads;
    const name = `${share} heads of ${shape.headDim} a key, f${half ? 16 : 32}`;
    cpuTest(`attention of tiles and of rows matches the reference: ${name}`, async (device) => {
      const common: Case = { ...TILES, ...shape, half };
      await assertAttention(device, common);
      await assertAttention(device, { ...common, quantized: true, sharpness: 8 });
      await assertAttention(device, { ...common, tileRows: 1 });
    });
  }
  cpuTest(
    `attention of tiles caps, biases, heats, and has sinks, f${half ? 16 : 32}`,
    async (device) => {
      const shape = { ...TILES, heads: 6, kvHeads: 2, headDim: 16, half };
      const sinks = Float32Array.of(-2, 0, 1, 3, 7, 20);
      const temperature = { scale: 0.5, length: 32, offset: 1 };
      for (const tileRows of [8, 1]) {
        const options = { ...shape, tileRows };
        await assertAttention(device, { ...options, softcap: 4, sharpness: 5, sinks });
        await assertAttention(device, { ...options, alibi: 8, temperature });
      }
    },
  );
  cpuTest(`attention of tiles sees windows of all kinds, f${half ? 16 : 32}`, async (device) => {
    const shape = {
      ...TILES,
      heads: 2,
      kvHeads: 1,
      headDim: 16,
      half,
      sinks: Float32Array.of(1, 2),
    };
    for (const tileRows of [8, 1]) {
      for (const size of [1, 30, 70]) {
        for (const kind of ["sliding", "chunked"] as const) {
          await assertAttention(device, { ...shape, tileRows, window: { kind, size } });
        }
      }
      const window = { kind: "symmetric", size: 37 } as const;
      await assertAttention(device, { ...shape, tileRows, window, causal: false });
    }
  });
}

/** The results of rows at the end of one sequence, computed in tiles of so many. */
async function attend(
  device: Device,
  options: Omit<AttentionOptions, "scale" | "sinks">,
  { context, rows, tileRows, type }: {
    context: number;
    rows: number;
    tileRows: number;
    type: CacheType;
  },
): Promise<Float32Array> {
  const { heads, headDim } = options;
  const maxBlocks = Math.ceil(context / BLOCK);
  const columns = heads * headDim;
  const cached = (seed: number) => {
    const { kvHeads, headDim } = options;
    const values = randomFloats(maxBlocks * BLOCK * kvHeads * headDim, seed);
    const words = new Uint32Array(encodeCache(type, headDim, values).buffer);
    return upload(device, words);
  };
  const places = Array.from({ length: rows }, (_, row) => ({
    ...{ token: 0, slot: 0, time: 0, height: 0, width: 0 },
    position: context - rows + row,
  }));
  const tiles = QUERY_TILE.list();
  for (let row = 0; row < rows; row += tileRows) {
    const count = Math.min(tileRows, rows - row);
    tiles.add({ firstRow: row, rows: count, end: context, imageEnd: 0 });
  }
  const y = {
    columns,
    stride: columns,
    floats: device.buffer("y", 4 * rows * columns, "test"),
  };
  const attention = device.attention(
    { columns, stride: columns, floats: upload(device, randomFloats(rows * columns, 1)) },
    { keys: cached(2), values: cached(3), types: typesOf(type) },
    {
      rows: upload(device, STEP_ROW.pack(places)),
      table: upload(device, Uint32Array.from({ length: maxBlocks }, (_, i) => maxBlocks - 1 - i)),
      maxBlocks,
    },
    y,
    { ...options, scale: 0.3, sinks: upload(device, randomFloats(heads, 4)) },
    {
      tileRows,
      split: 2 ** 30,
      maxSplits: 1,
      tiles: upload(device, tiles.packed),
      partials: y.floats,
    },
  );
  submit(device, (pass) => attention.encode(pass, tiles.count, context));
  return await readFloats(device, y.floats, rows * columns);
}

Deno.test("a row attends with the same bits alone and in tiles, on one thread to three", async () => {
  const cases = [
    { heads: 6, kvHeads: 2, headDim: 64 },
    { heads: 16, kvHeads: 1, headDim: 160, softcap: 3 },
    { heads: 2, kvHeads: 2, headDim: 12, window: { kind: "sliding", size: 300 } as const },
    { heads: 4, kvHeads: 1, headDim: 8, alibi: 8 },
  ];
  const expected: Float32Array[] = [];
  for (const threads of [1, 2, 3]) {
    using device = await openDevice({ kind: "cpu", threads });
    let number = 0;
    for (const options of cases) {
      for (const type of ["f32", "f16", "q8_0", "q4_0"] as const) {
        if (type === "q4_0" && options.headDim % 8 > 0) continue;
        const alone = await attend(device, options, { context: 700, rows: 21, tileRows: 1, type });
        const tiled = await attend(device, options, { context: 700, rows: 21, tileRows: 4, type });
        assertEquals(tiled, alone);
        assertEquals(alone, expected[number++] ??= alone);
      }
    }
  }
});
