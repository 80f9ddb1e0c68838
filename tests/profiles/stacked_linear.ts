// Products of one input by several matrices, as one dispatch, computed on all GPUs that are pretended.

import { openPretended } from "../kernels/product_profiles.ts";
import { assertStacked, type StackedCase } from "../kernels/stacked_linear_case.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

/** Products, with numbers of rows that each have tiles of their own. */
const CASES: (Omit<StackedCase, "tokens"> & { steps: number[] })[] = [
  {
    matrices: [["Q4_K", 70], ["Q6_K", 37]],
    columns: 256,
    integer: true,
    normed: true,
    steps: [1, 2, 7],
  },
  {
    matrices: [["Q8_0", 33], ["F16", 7], ["Q8_0", 5]],
    columns: 96,
    normed: true,
    gap: 3,
    steps: [1, 4],
  },
  {
    matrices: [["Q4_K", 9], ["Q5_K", 33]],
    columns: 256,
    integer: true,
    affine: true,
    steps: [1],
  },
];

for (const profile of DISTINCT_PROFILES) {
  for (const { steps, ...shape } of CASES) {
    const formats = shape.matrices.map(([format]) => format);
    Deno.test(`products by ${formats.join(", ")} side by side on ${profile.name}`, async () => {
      using device = await openPretended(profile);
      for (const tokens of steps) await assertStacked(device, { ...shape, tokens });
    });
  }
}
