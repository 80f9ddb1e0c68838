// Ways of putting a decoder together that few models share, against references written from the
// papers: exact, however rows are batched.

import { logitErrors, worst } from "../../conformance/logits.ts";
import { bloom } from "../reference/bloom.ts";
import { fixtureOf } from "../reference/file.ts";
import { commandR, falcon, gptNeox, phi2, stableLm } from "../reference/layer_norm_models.ts";
import { smolLm3 } from "../reference/smollm3.ts";
import { assert } from "@std/assert";

const CASES = [
  ["GPT-NeoX adds attention and feed-forward together", gptNeox({ parallel: true })],
  ["GPT-NeoX adds one after the other where its file says so", gptNeox({ parallel: false })],
  ["Falcon has 71 query heads on one key head, and one norm for both blocks", falcon],
  ["Phi-2 turns a half of each head, and has biases everywhere", phi2],
  ["Command R+ norms each head of queries and keys with weights of its own", commandR],
  ["StableLM 2 12B norms heads too, and turns a quarter of each", stableLm],
  ["BLOOM tells positions by the slopes of its six heads", bloom],
  ["SmolLM3 does not rotate in every fourth layer", smolLm3],
] as const;

for (const [name, model] of CASES) {
  Deno.test(name, async () => {
    const errors = await logitErrors(await fixtureOf(model));
    assert(worst(errors) <= 1e-9, JSON.stringify(errors));
  });
}
