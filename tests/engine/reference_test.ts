// The architectures of models that together have every block, against references written from the
// papers: exact, however rows are batched.

import { assert } from "@std/assert";
import { type Fixture, logitErrors, worst } from "../conformance/logits.ts";
import { deepSeek2 } from "./reference/deepseek2.ts";
import { fixtureOf, randomTokens, writeReference } from "./reference/file.ts";
import { unabsorb } from "./reference/latent_attention.ts";
import { RandomWeights } from "./reference/weights.ts";

async function assertExact(fixture: Fixture): Promise<void> {
  const errors = await logitErrors(fixture);
  console.log(JSON.stringify(errors));
  assert(worst(errors) <= 1e-9, JSON.stringify(errors));
}

Deno.test("DeepSeek-V3, its up-projections absorbed, has the logits of its reference", async () => {
  await assertExact(await fixtureOf(deepSeek2("absorbed")));
});

Deno.test("DeepSeek-V3, its keys and values unfolded, has the same logits", async () => {
  const weights = new RandomWeights();
  const fixture = await fixtureOf(deepSeek2("absorbed"), weights);
  for (const layer of [0, 1, 2]) unabsorb(weights, layer);
  await assertExact({ ...fixture, model: await writeReference(deepSeek2("unfolded"), weights) });
});
