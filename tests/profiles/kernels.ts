// The tests of all kernels whose workgroups or variants a device decides, on GPUs that are pretended.

import { testOn } from "../gpu.ts";
import { DISTINCT_PROFILES, pretendGpu } from "../profiles.ts";

testOn(DISTINCT_PROFILES.map((profile) => ({
  name: profile.name,
  options: { gpu: pretendGpu(profile) },
})));

await import("../kernels/attention_options_test.ts");
await import("../kernels/attention_test.ts");
await import("../kernels/expert_pairs_test.ts");
await import("../kernels/match_magnitude_test.ts");
await import("../kernels/mixture_test.ts");
await import("../kernels/norm_test.ts");
await import("../kernels/product_check_test.ts");
await import("../kernels/recurrent/convolution_test.ts");
await import("../kernels/recurrent/delta_test.ts");
await import("../kernels/recurrent/gated_norm_test.ts");
await import("../kernels/recurrent/scan_test.ts");
await import("../kernels/route_test.ts");
await import("../kernels/sparsify_test.ts");
