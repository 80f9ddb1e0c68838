// Every product of every kind of format in every step that a tile begins or ends at, computed on all
// GPUs that are pretended: an hour or so, for drivers compile each tile anew.

import {
  assertProduct,
  KINDS,
  openPretended,
  productCases,
  stepsOf,
} from "../kernels/product_profiles.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

for (const profile of DISTINCT_PROFILES) {
  for (const product of productCases(KINDS)) {
    const { format, sides, integer, quantized, gathered } = product;
    const name = `${format}, ${sides} sides, ${integer ? "int8" : "float"} to ` +
      `${quantized ? "int8" : "float"}${gathered ? ", by experts" : ""}, on ${profile.name}`;
    Deno.test(name, async () => {
      using device = await openPretended(profile);
      await assertProduct(device, product, stepsOf(device, product));
    });
  }
}
