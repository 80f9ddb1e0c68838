// Products with fused norms, and those that read them, computed on all GPUs that are pretended.

import { assertFusedNorm, fusedNormKinds } from "../kernels/fused_norm_case.ts";
import { openPretended } from "../kernels/product_profiles.ts";
import { formatNamed } from "../kernels/weights.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

/** Numbers of rows that each have tiles of their own. */
const STEPS = [1, 2, 4, 7];

for (const profile of DISTINCT_PROFILES) {
  for (const integer of [true, false]) {
    const name = `experts finish norms in ${integer ? "int8" : "f32"}`;
    Deno.test(`${name}, on ${profile.name}`, async () => {
      using device = await openPretended(profile);
      const shape = { format: "Q8_0", width: 160, columns: 96, integer, experts: true };
      for (const tokens of [1, 7]) await assertFusedNorm(device, { ...shape, tokens });
    });
  }
  for (const { format, integer } of fusedNormKinds()) {
    const name = `${format} in ${integer ? "int8" : "f32"}`;
    Deno.test(`${name} with fused norms, on ${profile.name}`, async () => {
      using device = await openPretended(profile);
      const columns = Math.max(96, formatNamed(format).blockSize);
      const shape = { format, integer, width: columns, columns };
      for (const tokens of STEPS) {
        await assertFusedNorm(device, { ...shape, tokens, paired: tokens % 2 === 1 });
      }
    });
  }
}
