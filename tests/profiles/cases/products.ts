// Tests of products in every step that a tile begins or ends at, computed on all GPUs that are
// pretended: products_float.ts and products_int8.ts register them, so that they run side by side.

import {
  assertProduct,
  KINDS,
  openPretended,
  productCases,
  stepsOf,
} from "../../kernels/product_profiles.ts";
import type { WebGpuDevice } from "../../../kernels/webgpu/mod.ts";
import { DISTINCT_PROFILES, type Profile } from "../../profiles.ts";

/** Opened once: kernels that were compiled stay. */
const devices = new Map<Profile, Promise<WebGpuDevice>>();

/** Formats that differ from those in how codes are read; computed on one GPU. */
const OTHERS = ["Q4_0", "MXFP4"];

/** Registers the tests of products with int8 or float activations. */
export function testProducts({ integer }: { integer: boolean }): void {
  for (const profile of DISTINCT_PROFILES) {
    const formats = profile === DISTINCT_PROFILES[0] ? [...KINDS, ...OTHERS] : KINDS;
    for (const product of productCases(formats)) {
      if (product.integer !== integer) continue;
      const { format, sides, quantized, gathered } = product;
      const name = `${format}, ${sides} sides, ${integer ? "int8" : "float"} to ` +
        `${quantized ? "int8" : "float"}${gathered ? ", by experts" : ""}, on ${profile.name}`;
      Deno.test(name, async () => {
        if (!devices.has(profile)) devices.set(profile, openPretended(profile));
        const device = await devices.get(profile)!;
        await assertProduct(device, product, stepsOf(device, product));
      });
    }
  }
}
