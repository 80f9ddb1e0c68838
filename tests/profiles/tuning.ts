// All ways in which a product, one of experts, or attention may be computed on GPUs of other makers, once they were
// timed there: each gives what the plain reference gives. Nothing is timed. Each profile takes its share
// of the products, and all of them with QUERN_SWEEP=1.

import { assertEquals } from "@std/assert";
import { type KernelCase, keyOf, typesOf } from "../../kernels/mod.ts";
import { faultOf } from "../../kernels/webgpu/tuning/trial.ts";
import { benchOf } from "../../kernels/webgpu/tuning/tuner.ts";
import { columnsName } from "../../kernels/webgpu/candidates.ts";
import { hasAdapter, webGpuTest } from "../adapter.ts";
import { conformanceTest } from "../conformance/logits.ts";
import { GATED as MODEL_GATED, othersWith } from "../engine/tuning/mixture_case.ts";
import { openPretended } from "../kernels/product_profiles.ts";
import { DISTINCT_PROFILES, profileNamed } from "../profiles.ts";

const PRODUCT = { kernel: "product", rows: 96, columns: 512, tokens: 1 } as const;

const PRODUCTS: KernelCase[] = [
  { ...PRODUCT, format: "Q4_K", sides: 2, integer: true, quantized: true },
  { ...PRODUCT, format: "Q8_0", sides: 1, integer: true, quantized: false },
  { ...PRODUCT, format: "F16", sides: 1, integer: false, quantized: false },
  { ...PRODUCT, format: "Q8_0", sides: 1, integer: true, quantized: false, tokens: 8 },
];

const EXPERT = { kernel: "experts", experts: 8, topK: 2, rows: 96, columns: 512 } as const;
const GATED = { ...EXPERT, format: "Q4_K", sides: 2, quantized: true, perPair: false } as const;
const DOWN = { ...EXPERT, format: "Q8_0", sides: 1, quantized: false, perPair: true } as const;

const EXPERTS: KernelCase[] = [
  { ...GATED, integer: true, density: 1, cols: 1 },
  { ...DOWN, integer: true, density: 8, cols: 8 },
  { ...DOWN, format: "F16", integer: false, density: 1, cols: 1 },
  { ...GATED, integer: true, density: 16, kernel: "expert pairs" },
];

const ATTENTION: KernelCase[] = [
  { kernel: "attention", heads: 8, kvHeads: 2, headDim: 64, ...typesOf("f16") },
  { kernel: "attention", heads: 4, kvHeads: 2, headDim: 64, keys: "q8_0", values: "q4_0" },
];

const HARDWARE = DISTINCT_PROFILES.filter(({ software }) => !software);

HARDWARE.forEach((profile, number) => {
  // Profiles come in pairs that differ in workgroup memory alone: one product of a kind each, in turn.
  const turn = Math.floor(number / 2);
  const some = (all: KernelCase[]) =>
    all.filter((_, i) => Deno.env.has("QUERN_SWEEP") || turn % all.length === i);
  for (const kernel of [...some(PRODUCTS), ...some(EXPERTS), ...ATTENTION]) {
    webGpuTest(`all ways of ${keyOf(kernel)} with ${profile.name}`, async () => {
      using device = await openPretended(profile);
      const bench = benchOf(device, kernel);
      const faults: [way: string, fault: string | undefined][] = [];
      for (const way of bench.ways) faults.push([way, await faultOf(device, bench, way)]);
      assertEquals(faults.filter(([, fault]) => fault !== undefined), []);
    });
  }
});

const model = hasAdapter ? conformanceTest : webGpuTest;

model("a mixture of experts answers the same with wider tiles of pairs", async () => {
  const pairs = (density: number, cols: number) => ({
    of: { ...MODEL_GATED, kernel: "expert pairs", density } as const,
    chosen: columnsName(cols),
  });
  const kept = [pairs(4, 8), pairs(16, 64)];
  const others = await othersWith(profileNamed("subgroups of 32,32, 32 KiB"), 16, kept);
  // Both products in tiles of 64, which they have for more pairs without these choices.
  assertEquals(others, 2);
});
