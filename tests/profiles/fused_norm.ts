// Products with fused norms, and those that read them, computed on all GPUs that are pretended.

import { assertFusedNorm } from "../kernels/fused_norm_case.ts";
import { KINDS, openPretended } from "../kernels/product_profiles.ts";
import { formatNamed } from "../kernels/weights.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

/** Numbers of rows that each have tiles of their own. */
const STEPS = [1, 2, 4, 7];

for (const profile of DISTINCT_PROFILES) {
  for (const format of KINDS.filter((name) => formatNamed(name).kind === "integer")) {
    Deno.test(`${format} with fused norms, on ${profile.name}`, async () => {
      using device = await openPretended(profile);
      const columns = Math.max(96, formatNamed(format).blockSize);
      for (const tokens of STEPS) {
        const paired = tokens % 2 === 1;
        await assertFusedNorm(device, { format, width: columns, columns, tokens, paired });
      }
    });
  }
}
