// Image encoders of every family on GPUs that are pretended, beside embeddings computed elsewhere.
// Encoders take f32 rows and exact products, whose kernels depend on subgroups; GPUs that differ in
// workgroup memory alone take turns.

import { assert } from "@std/assert";
import { loadImageEncoder } from "../../engine/vision/mod.ts";
import { conformanceTest, readFloats } from "../conformance/logits.ts";
import { encodeParts, FIXTURES, readFixture } from "../engine/vision/fixtures.ts";
import { openPretended } from "../kernels/product_profiles.ts";
import { nmse } from "../numbers.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

DISTINCT_PROFILES.forEach((profile, number) => {
  FIXTURES.forEach(([name], turn) => {
    if (!Deno.env.has("QUERN_SWEEP") && (number + turn) % 2 === 1) return;
    conformanceTest(`${name} encodes an image with ${profile.name}`, async () => {
      using device = await openPretended(profile);
      using encoder = await loadImageEncoder(await readFixture(name), device);
      const error = nmse(
        await encodeParts(encoder, name, "cat"),
        await readFloats(`vision/${name}/cat.embd.f32`),
      );
      assert(error <= 1e-10, `NMSE ${error}`);
    });
  });
});
