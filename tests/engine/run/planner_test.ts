// How a step's rows are laid out: tiles of the rows in prefill, segments of every sequence.

import { layOut, type Share } from "../../../engine/run/planner.ts";
import { Sequence, type SequenceRequest } from "../../../engine/run/sequence.ts";
import { assertEquals } from "@std/assert";

function shareOf(slot: number, submitted: number, count: number, decoding = false): Share {
  const prompt = Array.from({ length: submitted + count }, (_, i) => 100 * slot + i);
  const request = { prompt, maxTokens: 9 } as unknown as SequenceRequest;
  const sequence = Object.assign(new Sequence(request), { slot, submitted, decoding });
  return { sequence, count, output: true };
}

Deno.test("layOut() tells each tile where its sequence ends, and each sequence its rows", () => {
  const shares = [shareOf(2, 40, 1, true), shareOf(0, 7, 5), shareOf(1, 0, 2)];
  const plan = layOut(shares, 4);
  assertEquals([...plan.prefillTiles], [1, 4, 12, 0, 5, 1, 12, 0, 6, 2, 2, 0]);
  assertEquals([...plan.segments], [0, 1, 0, 0, 1, 5, 0, 0, 6, 2, 0, 0]);
  assertEquals([...plan.outputs], [0, 5, 7]);
  assertEquals([...plan.rows.subarray(0, 8)], [0, 0, 2, 1, 7, 7, 0, 0]);
  assertEquals(plan.shape, {
    rows: 8,
    sequences: 3,
    imageRows: 0,
    outputs: 3,
    decodeRows: 1,
    decodeContext: 41,
    prefillTiles: 3,
    prefillContext: 12,
  });
});
