// The proof of GPUs that are pretended: none that is right is refused, whatever model it is proved by; and
// those whose compiler makes something else of a kernel are caught.

import { assert, assertEquals } from "@std/assert";
import { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { webGpuTest } from "../adapter.ts";
import { conformanceTest, DATA } from "../conformance/logits.ts";
import { faultsOf, tinyFaults } from "../engine/proof/faults.ts";
import { pretendedCode, pretendGpu } from "../pretended_gpu.ts";
import { DISTINCT_PROFILES, profileNamed } from "../profiles.ts";

/** Models of each kind: int8 products, K-quants, windows, experts, delta nets, scans. */
const MODELS = [
  "quantizations/Q8_0",
  "quantizations/Q4_K_M",
  "architectures/gemma3-dense",
  "architectures/qwen3moe-moe",
  "architectures/qwen35-dense",
  "architectures/falcon-h1-dense",
];

for (const [number, profile] of DISTINCT_PROFILES.entries()) {
  for (const [at, name] of MODELS.entries()) {
    // Each takes its turn with a model, and all with QUERN_SWEEP.
    if (!Deno.env.has("QUERN_SWEEP") && number % MODELS.length !== at) continue;
    conformanceTest(`${profile.name} is not refused for ${name}`, async () => {
      const open = () => WebGpuDevice.open({ gpu: pretendGpu(profile) });
      assertEquals(await faultsOf(new URL(`${name}.gguf`, DATA), open), []);
    });
  }
}

const SUBGROUPS = profileNamed("subgroups of 32,32, 32 KiB");

/** What compilers make of a kernel that they get wrong. */
const LIES: [name: string, rewrite: (code: string) => string][] = [
  [
    "sums over subgroups leave something out",
    (code) => code.replaceAll(/= subgroupAdd\(/g, "= 0.99 * subgroupAdd("),
  ],
  [
    "halves overflow",
    (code) => code.replaceAll("pack2x16float(", "pack2x16float(65504.0 * "),
  ],
];

for (const [name, rewrite] of LIES) {
  webGpuTest(`a GPU is refused whose ${name}`, async () => {
    let isOther = false;
    const gpu = pretendGpu(SUBGROUPS, (code) => {
      const lie = rewrite(code);
      isOther ||= lie !== code;
      return pretendedCode(SUBGROUPS, lie);
    });
    const faults = await tinyFaults(() => WebGpuDevice.open({ gpu }));
    assert(isOther, "no kernel has what is rewritten");
    assert(faults.length > 0, "nothing was found");
  });
}
