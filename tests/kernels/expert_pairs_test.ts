// The grouping of pairs by expert: equal to the plain loops, whatever the ids, for widths of tiles
// that divide nothing.

import { assertEquals } from "@std/assert";
import { allocateRouting, expertPairsReference, NO_PAIR } from "../../kernels/mod.ts";
import { GpuExpertPairs, type WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { gpuTest, readWords, submit, write } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";

interface Case {
  rows: number;
  experts: number;
  topK: number;
  cols: number;
  /** The id of each pair; default random. */
  ids?: Uint32Array;
}

async function assertGrouped(device: WebGpuDevice, shape: Case): Promise<void> {
  const { rows, experts, topK, cols } = shape;
  const pairs = rows * topK;
  const ids = shape.ids ??
    Uint32Array.from(randomFloats(pairs, pairs), (value) => Math.abs(value) * 977 % experts);
  const routing = allocateRouting(device, rows + 3, { experts, topK });
  write(device, routing.ids, Uint32Array.of(...ids, ...new Uint32Array(3 * topK)));
  write(device, routing.count, Uint32Array.of(pairs));
  const chosen = new GpuExpertPairs(device, routing, rows + 3, { cols });
  const { tiles } = chosen.tiling(rows);
  const words = tiles * (1 + cols);
  write(device, chosen.tiles!, new Uint32Array(words).fill(12345));
  submit(device, (pass) => chosen.encode(pass, rows));
  const actual = await readWords(device, chosen.tiles!, words);
  assertEquals(actual, expertPairsReference(ids, { experts, cols }));
}

gpuTest("GpuExpertPairs groups 1, 5 and 33 rows by 2, 6, 60 and 128 experts", async (device) => {
  for (const rows of [1, 5, 33]) {
    for (const experts of [2, 6, 60, 128]) {
      for (const cols of [2, 4, 64]) {
        await assertGrouped(device, { rows, experts, topK: 2, cols });
      }
    }
  }
  await assertGrouped(device, { rows: 517, experts: 128, topK: 8, cols: 4 });
});

gpuTest("GpuExpertPairs groups pairs that all go to one expert", async (device) => {
  for (const expert of [0, 3, 5]) {
    const ids = new Uint32Array(33).fill(expert);
    await assertGrouped(device, { rows: 33, experts: 6, topK: 1, cols: 4, ids });
  }
});

Deno.test("expertPairsReference() lists each pair once, under its expert, in order", () => {
  const ids = [4, 0, 4, 4, 1, 4, 0, 4];
  const tiles = Array.from(expertPairsReference(ids, { experts: 6, cols: 4 }));
  const none = [NO_PAIR, NO_PAIR, NO_PAIR, NO_PAIR, NO_PAIR];
  assertEquals(tiles, [
    ...[0, 1, 6, NO_PAIR, NO_PAIR],
    ...[1, 4, NO_PAIR, NO_PAIR, NO_PAIR],
    ...none,
    ...none, // of expert 3
    ...[4, 0, 2, 3, 5],
    ...[4, 7, NO_PAIR, NO_PAIR, NO_PAIR],
    ...none,
    ...none,
  ]);
});

gpuTest("GpuExpertPairs leaves few pairs ungrouped", (device) => {
  const chosen = new GpuExpertPairs(
    device,
    allocateRouting(device, 512, { experts: 60, topK: 4 }),
    512,
  );
  assertEquals(chosen.tiling(1), { cols: 1, tiles: 4 });
  assertEquals(chosen.tiling(29), { cols: 1, tiles: 116 });
  const { cols, tiles } = chosen.tiling(512);
  assertEquals(cols > 1, true);
  assertEquals(tiles, Math.floor(2048 / cols) + 60);
  return Promise.resolve();
});
