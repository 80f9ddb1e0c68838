// Attention over the paged cache and the merge of its splits against the reference, for decode (one
// row of each sequence) and prefill (tiles of rows): grouped heads, splits that end anywhere,
// sequences that share a dispatch, groups of heads shared out over workgroups.

import { assert, assertEquals } from "@std/assert";
import { mostTileRows } from "../../kernels/webgpu/mod.ts";
import { deviceTest, gpuTest } from "../gpu.ts";
import { assertAttention } from "./attention_case.ts";

const DECODE = [[1, 1], [31, 1], [32, 1], [33, 1], [200, 1]] as const;

deviceTest(
  "Attention decodes five sequences, three heads a group, one or four splits",
  async (device) => {
    const shape = { heads: 6, kvHeads: 2, headDim: 80, half: false, quantized: true, tileRows: 1 };
    await assertAttention(device, { ...shape, split: 64, sequences: DECODE });
    await assertAttention(device, { ...shape, split: 224, sequences: DECODE });
  },
);

deviceTest("Attention decodes eight heads a group from a cache of f16", async (device) => {
  const shape = { heads: 8, kvHeads: 1, headDim: 64, half: true, quantized: false, tileRows: 1 };
  await assertAttention(device, { ...shape, split: 50, sequences: DECODE });
  // Queries as large as this give all weight to a few positions.
  await assertAttention(device, { ...shape, split: 50, sequences: DECODE, sharpness: 20 });
});

deviceTest("Attention prefills tiles of one to eight rows", async (device) => {
  const sequences = [[8, 8], [33, 33], [70, 5], [200, 1], [64, 12]] as const;
  const shape = { heads: 5, kvHeads: 5, headDim: 8, half: true, quantized: false, tileRows: 8 };
  await assertAttention(device, { ...shape, split: 32, sequences });
  await assertAttention(device, { ...shape, split: 224, sequences });
});

deviceTest("Attention prefills heads of 128, three a group", async (device) => {
  const sequences = [[1, 1], [32, 32], [130, 3]] as const;
  const shape = { heads: 3, kvHeads: 1, headDim: 128, half: false, quantized: true, tileRows: 2 };
  await assertAttention(device, { ...shape, split: 64, sequences });
});

deviceTest("Attention prefills tiles of up to 32 and 28 queries of one key", async (device) => {
  const sequences = [[70, 20], [9, 9], [200, 3], [33, 1]] as const;
  const shape = { kvHeads: 1, half: true, quantized: false, sequences, split: 96 };
  const four = { ...shape, heads: 4, headDim: 128 };
  await assertAttention(device, { ...four, tileRows: device.mostTileRows(four) });
  const window = { kind: "sliding", size: 30 } as const;
  const seven = { ...shape, heads: 7, headDim: 40, window };
  await assertAttention(device, { ...seven, tileRows: device.mostTileRows(seven) });
}, { dawn: false });

deviceTest("Attention shares 71 heads of one key out over workgroups", async (device) => {
  const shape = { heads: 71, kvHeads: 1, headDim: 8, half: true, quantized: true, tileRows: 1 };
  await assertAttention(device, { ...shape, split: 64, sequences: [[70, 3], [33, 1]] });
}, { dawn: false });

gpuTest("mostTileRows() fits the workgroup memory and is one to eight", (device) => {
  for (const group of [1, 3, 8, 16, 71]) {
    for (const headDim of [8, 64, 128, 256, 576]) {
      const rows = mostTileRows(device, { heads: group, kvHeads: 1, headDim });
      assert(Number.isInteger(rows) && rows >= 1 && rows <= 8, `${rows} rows`);
    }
  }
  assertEquals(mostTileRows(device, { heads: 4096, kvHeads: 1, headDim: 8 }), 1);
  return Promise.resolve();
});
