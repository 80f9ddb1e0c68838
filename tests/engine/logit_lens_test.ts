// The logit lens: after the last layer it shows what the model says, after others what a plain norm and
// head make of the residual stream.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadModel, logitLens, RequestError } from "../../engine/mod.ts";
import { nmse } from "../numbers.ts";
import { randomTokens, writeReference } from "./reference/file.ts";
import { qwen3 } from "./reference/qwen3.ts";
import { logits as headOf } from "./reference/model.ts";
import { record } from "./reference/recording.ts";
import { RandomWeights } from "./reference/weights.ts";

Deno.test("the lens shows a norm and the head of each layer's residual stream", async () => {
  const weights = new RandomWeights();
  const tokens = randomTokens();
  const { rows } = record(() => qwen3.run(weights, tokens));
  const path = await writeReference(qwen3, weights);
  const limits = { contextLength: 64, maxSequences: 2, prefillChunk: 16 };
  await using model = await loadModel(path, { ...limits, exact: true, device: { kind: "cpu" } });
  const { places, tokens: ran } = await logitLens(model, {
    prompt: tokens,
    positions: [3, -1],
    top: 2,
  });
  assertEquals(ran, tokens);
  const last = tokens.length - 1;
  const expected = [0, 1, 2].flatMap((layer) => [[layer, 3], [layer, last]]);
  assertEquals(places.map(({ layer, position }) => [layer, position]), expected);
  for (const { layer, position, logits, top, entropy } of places) {
    const stream = rows.get(`residual.post[${layer}]`)![position]!;
    const [known] = headOf(weights, [weights.rmsNorm("output_norm", stream)]);
    assert(nmse(logits, Float32Array.from(known!)) <= 1e-9);
    const total = known!.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const shares = known!.map((logit) => Math.exp(logit) / total);
    assertEquals(
      top.map(({ id }) => id),
      [...shares.keys()].sort((a, b) => shares[b]! - shares[a]!).slice(0, 2),
    );
    assert(Math.abs(top[0]!.probability - shares[top[0]!.id]!) < 1e-5);
    const bits = -shares.reduce((sum, share) => sum + share * Math.log2(share), 0);
    assert(Math.abs(entropy - bits) < 1e-4);
    assertEquals(top[0]!.text, await model.detokenize([top[0]!.id]));
  }
  const said = await model.logits(tokens);
  assertEquals(places.at(-1)!.logits, said.slice(-places.at(-1)!.logits.length));
  const some = await logitLens(model, { prompt: tokens, layers: "1:3" });
  assertEquals(some.places.map(({ layer }) => layer), [1, 2]);
  await assertRejects(
    () => logitLens(model, { prompt: tokens, top: 0.5 }),
    RequestError,
    "top is 0.5",
  );
  await assertRejects(() => logitLens(model, { prompt: tokens, layers: "9" }), RequestError);
});
