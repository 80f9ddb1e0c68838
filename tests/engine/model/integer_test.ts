// The default mode, int8 activations and an f16 cache, on models with quantized weights. How much
// rounding may change is known from the references: they run with rounded activations too. Where the
// two round apart, by the cache's f16 or the order of a sum, the errors are as large, but not the same.

import { loadModel } from "../../../engine/mod.ts";
import { nmse } from "../../numbers.ts";
import { deepSeek2 } from "../reference/deepseek2.ts";
import { fixtureOf, randomTokens } from "../reference/file.ts";
import { gptOss } from "../reference/gpt_oss.ts";
import { mamba2 } from "../reference/mamba2.ts";
import { VOCABULARY } from "../reference/model.ts";
import { qwen3Next } from "../reference/qwen3_next.ts";
import { RandomWeights } from "../reference/weights.ts";
import { assert } from "@std/assert";

/** Of two sums of as many roundings, one is hardly ever more than twice the other. */
const MARGIN = 2;

/**
 * The median of the tokens' errors: of a few tokens rounding swaps two experts that are nearly as
 * good, and then nothing is to be said of the logits.
 */
function medianError(logits: Float32Array, expected: Float32Array): number {
  const errors: number[] = [];
  for (let at = 0; at < logits.length; at += VOCABULARY) {
    const end = at + VOCABULARY;
    errors.push(nmse(logits.subarray(at, end), expected.subarray(at, end)));
  }
  return errors.sort((a, b) => a - b)[errors.length >> 1];
}

/** The first, which all others see, chooses no expert of these models by a hair. */
const TOKENS = randomTokens().reverse();

const CASES = [
  [deepSeek2("absorbed"), "Q8_0"],
  [deepSeek2("absorbed"), "Q4_1"],
  [gptOss, "Q8_0"],
  [qwen3Next, "Q8_0"],
  [mamba2, "Q8_0"],
] as const;

for (const [reference, type] of CASES) {
  Deno.test(`${reference.architecture} of ${type} weights is as exact as int8 allows`, async () => {
    const weights = new RandomWeights(type);
    const { model, tokens, expected } = await fixtureOf(reference, weights, TOKENS);
    const rounded = Float32Array.from(reference.run(weights.asInteger(), tokens).flat());
    await using loaded = await loadModel(model, { contextLength: 64, maxSequences: 2 });
    const whole = await loaded.logits(tokens);
    const single = await loaded.logits(tokens.slice(0, 12), { chunkSize: 1 });
    for (const logits of [whole, single]) {
      const error = medianError(logits, expected);
      const bound = MARGIN * medianError(rounded.subarray(0, logits.length), expected);
      assert(error <= bound, `NMSE ${error}, at most ${bound}`);
    }
    // Without a cache nothing else is rounded, but that sums end near enough to half a code.
    if (reference === mamba2) assert(nmse(whole, rounded) <= 1e-6, "not rounded alike");
  });
}
