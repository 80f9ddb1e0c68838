// The tests of kernels whose workgroups or variants a device decides, on GPUs that are pretended;
// products, attention and the sampler are in files of their own.

import { testOn } from "../gpu.ts";
import { pretendGpu } from "../pretended_gpu.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

testOn(
  DISTINCT_PROFILES.map((profile) => ({
    name: profile.name,
    options: { gpu: pretendGpu(profile) },
  })),
);
for (
  const name of [
    "expert_pairs",
    "match_magnitude",
    "mixture",
    "norm",
    "product_check",
    "recurrent/convolution",
    "recurrent/delta",
    "recurrent/gated_norm",
    "recurrent/scan",
    "rotate",
    "rotate_rows",
    "route",
    "sparsify",
  ]
) await import(`../kernels/${name}_test.ts`);
