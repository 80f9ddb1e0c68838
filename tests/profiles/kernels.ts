// The tests of all kernels whose workgroups or variants a device decides, on GPUs that are pretended.

import { testOn } from "../gpu.ts";
import { DISTINCT_PROFILES, pretendGpu, type Profile } from "../profiles.ts";

/** Has the tests that are imported next run on these alone, without the CPU. */
function testOnProfiles(profiles: readonly Profile[]): void {
  testOn(profiles.map((profile) => ({
    name: profile.name,
    options: { gpu: pretendGpu(profile) },
  })));
}

// Attention has the same kernels on all hardware of as much workgroup memory; tests/profiles/shaders.ts
// checks it. Drivers compile these for the longest.
testOnProfiles(
  DISTINCT_PROFILES.filter((one, i) =>
    i ===
      DISTINCT_PROFILES.findIndex((other) =>
        other.memory === one.memory && other.software === one.software
      )
  ),
);
await import("../kernels/attention_options_test.ts");
await import("../kernels/attention_test.ts");

testOnProfiles(DISTINCT_PROFILES);
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
