// Whole models on GPUs that are pretended: the logits in steps of 1 to 24, 33 and 72 rows beside
// those of the software driver as itself. Minutes to hours, for drivers compile every kernel anew;
// models come from the conformance data.

import { assert } from "@std/assert";
import { loadModel, type LocalLoadOptions } from "../../engine/mod.ts";
import { conformanceTest, DATA } from "../conformance/logits.ts";
import { nmse } from "../numbers.ts";
import { DISTINCT_PROFILES, pretendGpu } from "../profiles.ts";

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

for (const name of MODELS) {
  for (const [arithmetic, most] of Object.entries(MOST_ERROR)) {
    const exact = arithmetic === "exact";
    const itself = new Map<string, Promise<Float32Array[]>>();
    for (const profile of DISTINCT_PROFILES) {
      conformanceTest(`${name}, ${arithmetic}, on ${profile.name}`, async () => {
        if (!itself.has(name)) itself.set(name, logitsOf(name, { exact }, [72]));
        const [expected] = await itself.get(name)!;
        const device = { gpu: pretendGpu(profile) };
        const errors = (await logitsOf(name, { exact, device }, STEPS))
          .map((logits) => nmse(logits, expected));
        const wrong = STEPS.filter((_, i) => !(errors[i] <= most));
        const worst = errors.reduce((a, b) => Math.max(a, b));
        assert(wrong.length === 0, `NMSE ${worst}, in steps of ${wrong}`);
      });
    }
  }
}
