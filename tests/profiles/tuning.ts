// Kernels of GPUs of other makers, computed in all the ways that are timed to tune them: each gives what
// the plain reference gives.

import { assertEquals } from "@std/assert";
import { type KernelCase, keyOf, typesOf } from "../../kernels/mod.ts";
import { webGpuTest } from "../adapter.ts";
import { openPretended } from "../kernels/product_profiles.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

const PRODUCT = { kernel: "product", rows: 96, columns: 512, tokens: 1 } as const;

const KERNELS: KernelCase[] = [
  { ...PRODUCT, format: "Q4_K", sides: 2, integer: true, quantized: true },
  { ...PRODUCT, format: "Q8_0", sides: 1, integer: true, quantized: false },
  { ...PRODUCT, format: "F16", sides: 1, integer: false, quantized: false },
  { ...PRODUCT, format: "Q8_0", sides: 1, integer: true, quantized: false, tokens: 8 },
  { kernel: "attention", heads: 8, kvHeads: 2, headDim: 64, ...typesOf("f16") },
  { kernel: "attention", heads: 4, kvHeads: 2, headDim: 64, keys: "q8_0", values: "q4_0" },
];

for (const profile of DISTINCT_PROFILES.filter(({ software }) => !software)) {
  for (const kernel of KERNELS) {
    webGpuTest(`all ways of ${keyOf(kernel)} with ${profile.name}`, async () => {
      using device = await openPretended(profile);
      const { trials } = (await device.tuner!.tune(kernel))!;
      assertEquals(trials.filter(({ fault }) => fault !== undefined), []);
    });
  }
}
