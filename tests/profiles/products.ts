// Products of every kind of format in every step that a tile begins or ends at, computed on all GPUs
// that are pretended: those of the usual formats on each of them, those of the others in turns, and all
// with QUERN_SWEEP=1, which takes an hour or so, for drivers compile each tile anew.

import {
  assertProduct,
  encodeProducts,
  KINDS,
  openPretended,
  productCases,
  stepsOf,
} from "../kernels/product_profiles.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";
import { Found, inTurn, workOf } from "../alike_profiles.ts";

/** Formats that every profile computes. */
const USUAL = ["Q8_0", "Q4_K"];

const found = new Found<void>();

for (const profile of DISTINCT_PROFILES) {
  for (const product of productCases(KINDS)) {
    const { format, sides, integer, quantized, gathered } = product;
    if (!USUAL.includes(format) && !inTurn(profile, KINDS.indexOf(format))) continue;
    const name = `${format}, ${sides} sides, ${integer ? "int8" : "float"} to ` +
      `${quantized ? "int8" : "float"}${gathered ? ", by experts" : ""}, on ${profile.name}`;
    Deno.test(name, async () => {
      const work = await workOf(profile, (gpu) => encodeProducts(gpu, [product]));
      await found.get(work + JSON.stringify(product), name, async () => {
        using device = await openPretended(profile);
        await assertProduct(device, product, stepsOf(device, product));
      });
    });
  }
}
