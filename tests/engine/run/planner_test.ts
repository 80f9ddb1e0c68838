// How a step's rows are laid out: tiles of the rows in prefill, segments of every sequence.

import { PLAN_ROW, QUERY_TILE, STEP_SEGMENT } from "../../../kernels/mod.ts";
import { PlanCache } from "../../../engine/run/plan_cache.ts";
import { type Chunk, layOut } from "../../../engine/run/planner.ts";
import { NO_MEMORY, Sequence, type SequenceRequest } from "../../../engine/run/sequence.ts";
import { assert, assertEquals } from "@std/assert";
import { unpacked } from "../../records.ts";

function chunkOf(slot: number, submitted: number, count: number, decoding = false): Chunk {
  const prompt = Array.from({ length: submitted + count }, (_, i) => 100 * slot + i);
  const request = { prompt, maxTokens: 9 } as unknown as SequenceRequest;
  const sequence = new Sequence(request);
  sequence.hold({ ...NO_MEMORY, slot });
  sequence.feedFrom(submitted);
  if (decoding) sequence.decode();
  return { sequence, count, output: true, draft: [] };
}

Deno.test("layOut() tells each tile where its sequence ends, and each sequence its rows", () => {
  const chunks = [chunkOf(2, 40, 1, true), chunkOf(0, 7, 5), chunkOf(1, 0, 2)];
  const plan = layOut(chunks, 4);
  assertEquals(unpacked(QUERY_TILE, plan.prefillTiles), [
    { firstRow: 1, rows: 4, end: 12, imageEnd: 0 },
    { firstRow: 5, rows: 1, end: 12, imageEnd: 0 },
    { firstRow: 6, rows: 2, end: 2, imageEnd: 0 },
  ]);
  assertEquals(unpacked(STEP_SEGMENT, plan.segments), [
    { firstRow: 0, rows: 1 },
    { firstRow: 1, rows: 5 },
    { firstRow: 6, rows: 2 },
  ]);
  assertEquals([...plan.outputs], [0, 5, 7]);
  const text = { timeDelta: 0, heightDelta: 0, widthDelta: 0 };
  assertEquals(unpacked(PLAN_ROW, plan.rows).slice(0, 2), [
    { token: 0, position: 0, slot: 2, inSlot: 1, ...text },
    { token: 7, position: 7, slot: 0, inSlot: 0, ...text },
  ]);
  assertEquals(plan.shape, {
    rows: 8,
    sequences: 3,
    mediaRows: 0,
    adapters: 0,
    outputs: 3,
    decodeRows: 1,
    decodeContext: 41,
    prefillTiles: 3,
    prefillContext: 12,
  });
});

Deno.test("PlanCache gives decode steps of the same slots one version, and others another", () => {
  const plans = new PlanCache(4);
  const decode = (...slots: number[]) =>
    plans.layOut(slots.map((slot) => chunkOf(slot, 40, 1, true))).version;
  const first = decode(0, 1);
  assertEquals(decode(0, 1), first);
  const other = decode(0, 2);
  assert(other > first);
  plans.layOut([chunkOf(0, 0, 3)]); // Slot 0 is another sequence's now.
  assert(decode(0, 2) > other);
});
