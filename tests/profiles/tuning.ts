// All ways in which a product or attention may be computed on GPUs of other makers, once they were
// timed there: each gives what the plain reference gives. Nothing is timed. Each profile takes its share
// of the products, and all of them with QUERN_SWEEP=1.

import { assertEquals } from "@std/assert";
import { type KernelCase, keyOf, typesOf } from "../../kernels/mod.ts";
import { AttentionBench } from "../../kernels/webgpu/tuning/attention_bench.ts";
import { ProductBench } from "../../kernels/webgpu/tuning/product_bench.ts";
import { faultOf } from "../../kernels/webgpu/tuning/trial.ts";
import { webGpuTest } from "../adapter.ts";
import { openPretended } from "../kernels/product_profiles.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";

const PRODUCT = { kernel: "product", rows: 96, columns: 512, tokens: 1 } as const;

const PRODUCTS: KernelCase[] = [
  { ...PRODUCT, format: "Q4_K", sides: 2, integer: true, quantized: true },
  { ...PRODUCT, format: "Q8_0", sides: 1, integer: true, quantized: false },
  { ...PRODUCT, format: "F16", sides: 1, integer: false, quantized: false },
  { ...PRODUCT, format: "Q8_0", sides: 1, integer: true, quantized: false, tokens: 8 },
];

const ATTENTION: KernelCase[] = [
  { kernel: "attention", heads: 8, kvHeads: 2, headDim: 64, ...typesOf("f16") },
  { kernel: "attention", heads: 4, kvHeads: 2, headDim: 64, keys: "q8_0", values: "q4_0" },
];

const HARDWARE = DISTINCT_PROFILES.filter(({ software }) => !software);

HARDWARE.forEach((profile, number) => {
  // Profiles come in pairs that differ in workgroup memory alone: one product each, in turn.
  const turn = Math.floor(number / 2);
  const products = PRODUCTS.filter((_, i) =>
    Deno.env.has("QUERN_SWEEP") || turn % PRODUCTS.length === i
  );
  for (const kernel of [...products, ...ATTENTION]) {
    webGpuTest(`all ways of ${keyOf(kernel)} with ${profile.name}`, async () => {
      using device = await openPretended(profile);
      const bench = kernel.kernel === "product"
        ? new ProductBench(device, kernel)
        : new AttentionBench(device, kernel);
      const faults: [way: string, fault: string | undefined][] = [];
      for (const way of bench.ways) faults.push([way, await faultOf(device, bench, way)]);
      assertEquals(faults.filter(([, fault]) => fault !== undefined), []);
    });
  }
});
