// Tokens that are drawn behind drafts have the probabilities that the model gives them: a chi-square test
// over four letters that a mask leaves, of texts in which each of them has stood before, and of drafts of
// a draft model, which sees them in another order, and of a model's own head.

import { type GenerateRequest, loadModel, type LoadOptions } from "../../../engine/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { glm4Moe } from "../reference/glm4_moe.ts";
import { writeAgreeing } from "./agreeing_head.ts";
import { folder, readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert } from "@std/assert";
import { share } from "../../share.ts";

const LETTERS = "abcd";
const DRAWS = share(320, 1200);
const TEMPERATURE = 0.7;

/** What chi-square of 15 degrees of freedom exceeds in one test of 100,000. */
const CRITICAL = 49.8;

/** Another model of the same vocabulary. */
const otherPath = `${folder}/other.gguf`;
await writeTinyLlama(otherPath, { seed: 2 });

const headPath = await writeAgreeing(glm4Moe);

interface Way {
  readonly name: string;
  readonly path: string | URL;
  readonly load: LoadOptions;
  readonly request: Partial<GenerateRequest>;
}

const WAYS: readonly Way[] = [
  { name: "drafts", path: tinyPath, load: tinyLoad, request: {} },
  {
    name: "a draft model",
    path: tinyPath,
    load: { ...tinyLoad, draft: otherPath },
    request: { draftTokens: 3 },
  },
  { name: "an MTP head", path: headPath, load: tinyLoad, request: { draftTokens: 3 } },
];

for (const { name, path, load, request } of WAYS) {
  Deno.test(`drawn tokens have the model's distribution with ${name}`, async () => {
    await using model = await loadModel(path, { ...load, exact: true });
    const bytes = (text: string) => [...new TextEncoder().encode(text)];
    const prompt = bytes("qqab qqbc qqcd qqda qq");

    /** Of each letter after a beginning. */
    const probabilities = async (beginning: string) => {
      const tokens = [...prompt, ...bytes(beginning)];
      const all = await model.logits(tokens);
      const last = all.subarray(all.length - all.length / tokens.length);
      const weights = bytes(LETTERS).map((token) => Math.exp(last[token] / TEMPERATURE));
      const sum = weights.reduce((total, weight) => total + weight, 0);
      return weights.map((weight) => weight / sum);
    };
    const expected = new Map<string, number>();
    const first = await probabilities("");
    for (const [i, a] of [...LETTERS].entries()) {
      const second = await probabilities(a);
      for (const [j, b] of [...LETTERS].entries()) {
        const third = await probabilities(a + b);
        for (const [k, c] of [...LETTERS].entries()) {
          const share = first[i] * second[j] * third[k];
          expected.set(b + c, (expected.get(b + c) ?? 0) + share);
        }
      }
    }

    const counts = new Map<string, number>();
    let [drafted, accepted] = [0, 0];
    for (let seed = 0; seed < DRAWS; seed += 40) {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          readAnswer(model.generate({
            prompt,
            seed: seed + i,
            temperature: TEMPERATURE,
            topK: 0,
            topP: 1,
            maxTokens: 6,
            finish: false,
            format: { pattern: "^[abcd]{8}$" },
            ...request,
          }))),
      );
      for (const { text, done } of answers) {
        const cell = text.slice(1, 3);
        counts.set(cell, (counts.get(cell) ?? 0) + 1);
        drafted += done!.usage.draftedTokens ?? 0;
        accepted += done!.usage.acceptedTokens ?? 0;
      }
    }
    assert(drafted > DRAWS / 2, `${drafted} tokens were drafted`);
    assert(accepted > DRAWS / 20 && accepted < drafted, `${accepted} of ${drafted} came`);
    let distance = 0;
    for (const [cell, share] of expected) {
      distance += ((counts.get(cell) ?? 0) - DRAWS * share) ** 2 / (DRAWS * share);
    }
    assert(distance < CRITICAL, `chi-square is ${distance.toFixed(1)}`);
  });
}
