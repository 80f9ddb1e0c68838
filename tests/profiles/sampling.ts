// The tests of the sampler on GPUs that are pretended.

import { testOn } from "../gpu.ts";
import { pretendGpu } from "../pretended_gpu.ts";
import { MEMORY_PROFILES } from "../profiles.ts";

testOn(
  MEMORY_PROFILES.map((profile) => ({
    name: profile.name,
    options: { gpu: pretendGpu(profile) },
  })),
);
await import("../kernels/sampling/agreement_test.ts");
await import("../kernels/sampling/sampler_test.ts");
