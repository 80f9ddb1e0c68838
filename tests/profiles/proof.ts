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

/** A GPU whose compiler makes something else of kernels. */
function wrongGpu(rewrite: (code: string) => string): { gpu: GPU; isWrong: () => boolean } {
  let isWrong = false;
  const gpu = pretendGpu(SUBGROUPS, (code) => {
    const lie = rewrite(code);
    isWrong ||= lie !== code;
    return pretendedCode(SUBGROUPS, lie);
  });
  return { gpu, isWrong: () => isWrong };
}

/** What compilers make of kernels that they get wrong in every way of computing them. */
const LIES: [name: string, rewrite: (code: string) => string, named: RegExp][] = [
  [
    "norms leave out a part of their sums over subgroups",
    (code) =>
      code.replaceAll(/\bsum \+= subgroupShuffleXor\(/g, "sum += 0.97 * subgroupShuffleXor("),
    /^(norm|linear Q8_0 of layer 0)/,
  ],
  [
    "halves overflow",
    (code) => code.replaceAll(/\bpack2x16float\(/g, "pack2x16float(65504.0 * "),
    /^linear Q8_0 of layer 0 \(residual\)/,
  ],
];

for (const [name, rewrite, named] of LIES) {
  webGpuTest(`a GPU is refused whose ${name}`, async () => {
    const { gpu, isWrong } = wrongGpu(rewrite);
    const faults = await tinyFaults(() => WebGpuDevice.open({ gpu }));
    assert(isWrong(), "no kernel has what is rewritten");
    assert(faults[0] && named.test(faults[0].what), JSON.stringify(faults.slice(0, 3)));
  });
}

webGpuTest(
  "a GPU whose products leave out a part of their sums computes them in another way",
  async () => {
    const { gpu, isWrong } = wrongGpu((code) =>
      code.replaceAll(/= subgroupAdd\(/g, "= 0.97 * subgroupAdd(")
    );
    let mended = 0;
    const faults = await tinyFaults(async () => {
      const device = await WebGpuDevice.open({ gpu });
      const { tuner } = device;
      const mend = tuner.mend.bind(tuner);
      tuner.mend = async () => {
        const kernels = await mend();
        mended = kernels.length;
        return kernels;
      };
      return device;
    });
    assert(isWrong() && mended > 0, "nothing was found");
    assertEquals(faults, []);
  },
);
