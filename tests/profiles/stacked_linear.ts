// Products of one input by several matrices, as one dispatch, computed on all GPUs that are pretended.

import { openPretended } from "../kernels/product_profiles.ts";
import { assertStacked, type StackedCase } from "../kernels/stacked_linear_case.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

/** Numbers of rows that each have tiles of their own, and more than one kernel has. */
const STEPS = [1, 2, 3, 7, 9];

const SHAPES: readonly Pick<StackedCase, "matrices" | "columns">[] = [
  { matrices: [["Q4_K", 70], ["Q6_K", 37]], columns: 256 },
  { matrices: [["Q8_0", 33], ["Q4_0", 70], ["Q8_0", 5]], columns: 96 },
];

for (const profile of DISTINCT_PROFILES) {
  for (const [i, shape] of SHAPES.entries()) {
    Deno.test(`stacked products ${i} on ${profile.name}`, async () => {
      using device = await openPretended(profile);
      for (const tokens of STEPS) {
        await assertStacked(device, { ...shape, tokens, normed: true });
        await assertStacked(device, { ...shape, tokens, affine: i === 0, gap: tokens });
      }
    });
  }
}
