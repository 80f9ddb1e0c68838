// Whole models on GPUs that are pretended: the logits in steps of 1 to 24, 33 and 72 rows beside
// those of the software driver as itself. Each profile computes every third model, and all of them with
// QUERN_SWEEP=1, which takes hours, for drivers compile every kernel anew. Models come from the
// conformance data.

import { assert } from "@std/assert";
import { loadModel, type LocalLoadOptions } from "../../engine/mod.ts";
import { conformanceTest, DATA } from "../conformance/logits.ts";
import { nmse } from "../numbers.ts";
import { DISTINCT_PROFILES, pretendGpu } from "../profiles.ts";
import { Found, inTurn, workOf } from "../alike_profiles.ts";

/** Models of each kind: int8 products, K-quants, experts, delta nets, scans, windows. */
const MODELS = [
  "quantizations/Q8_0",
  "quantizations/Q4_K_M",
  "architectures/qwen3moe-moe",
  "architectures/qwen35-dense",
  "architectures/falcon-h1-dense",
  "architectures/gemma3-dense",
];

const STEPS = [...Array.from({ length: 24 }, (_, i) => i + 1), 33, 72];
const TOKENS = Array.from({ length: 72 }, (_, i) => (i * 37 + 11) % 120);

/** Of the logits' power: int8 activations fall on the other side of a rounding, f32 sums differ. */
const MOST_ERROR = { int8: 1e-3, exact: 1e-8 };

/** Logits in steps of so many rows. */
async function logitsOf(
  name: string,
  options: LocalLoadOptions,
  steps: readonly number[],
): Promise<Float32Array[]> {
  await using model = await loadModel(new URL(`${name}.gguf`, DATA), {
    contextLength: 128,
    maxSequences: 2,
    prefillChunk: 72,
    ...options,
  });
  const logits: Float32Array[] = [];
  for (const chunk of steps) logits.push(await model.logits(TOKENS, { chunkSize: chunk }));
  return logits;
}

const found = new Found<number[]>();

for (const [number, name] of MODELS.entries()) {
  for (const [turn, [arithmetic, most]] of Object.entries(MOST_ERROR).entries()) {
    const exact = arithmetic === "exact";
    let itself: Promise<Float32Array[]> | undefined;
    for (const profile of DISTINCT_PROFILES) {
      if (!inTurn(profile, number + turn)) continue;
      const title = `${name}, ${arithmetic}, on ${profile.name}`;
      conformanceTest(title, async () => {
        itself ??= logitsOf(name, { exact }, [72]);
        const [expected] = await itself;
        const run = (gpu: GPU) => logitsOf(name, { exact, device: { gpu } }, STEPS);
        const work = await workOf(profile, async (gpu) => void await run(gpu));
        const { value: errors, by } = await found.get(
          `${name} ${work}`,
          title,
          async () => (await run(pretendGpu(profile))).map((logits) => nmse(logits, expected)),
        );
        const wrong = STEPS.filter((_, i) => !(errors[i] <= most));
        const worst = errors.reduce((a, b) => Math.max(a, b));
        assert(wrong.length === 0, `NMSE ${worst}, in steps of ${wrong}, computed for ${by}`);
      });
    }
  }
}
