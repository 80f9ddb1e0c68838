// The records of a step with their fields in another order: record_test.ts runs tests with this module in
// place of step_records.ts. What knows an order by heart computes something else then.

import { assertNotEquals } from "@std/assert";
import * as records from "../../kernels/ops/step_records.ts";
import { type Fields, RecordLayout } from "../../kernels/record.ts";

/** Fields in another order: those of two words first, the others the other way round. */
function reordered<Of extends Fields>(layout: RecordLayout<Of>): RecordLayout<Of> {
  const entries = Object.entries(layout.fields).reverse();
  const wide = entries.filter(([, type]) => type === "u64");
  const fields = [...wide, ...entries.filter((entry) => !wide.includes(entry))];
  return new RecordLayout(layout.name, Object.fromEntries(fields) as unknown as Of, layout.words);
}

export const PLAN_ROW = reordered(records.PLAN_ROW);
export const STEP_ROW = reordered(records.STEP_ROW);
export const SLOT_TOKEN = reordered(records.SLOT_TOKEN);
export const QUERY_TILE = reordered(records.QUERY_TILE);
export const STEP_SEGMENT = reordered(records.STEP_SEGMENT);
export const SAMPLING = reordered(records.SAMPLING);

Deno.test("records have their fields in another order (CPU)", () => {
  assertNotEquals(STEP_ROW.word, records.STEP_ROW.word);
});
