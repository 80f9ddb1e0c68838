// The probabilities of given tokens: as a softmax of the logits of each sequence alone gives them,
// whatever the sequences have in common, whatever runs beside them, and in a worker.

import { ContextLengthError, loadModel, RequestError } from "../../../engine/mod.ts";
import { plant } from "../../../engine/model/score.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

const model = await loadModel(tinyPath, { ...tinyLoad, exact: true, maxSequences: 3 });
globalThis.addEventListener("unload", () => void model.close());

/** Whole numbers below a bound. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2654435761 >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

/** Sequences with common beginnings, some of which are the beginning of others. */
function randomSequences(random: (below: number) => number, most: number): number[][] {
  const sequences: number[][] = [];
  const count = 1 + random(9);
  while (sequences.length < count) {
    const other = sequences[random(sequences.length)] ?? [];
    const kept = other.slice(0, random(other.length + 1));
    const added = Array.from({ length: random(most) }, () => random(3) + 65);
    if (kept.length + added.length > 0) sequences.push([...kept, ...added]);
  }
  return sequences;
}

Deno.test("branches run every token that is looked at once, after what precedes it", () => {
  for (let seed = 0; seed < 500; seed++) {
    const random = randomOf(seed);
    const sequences = randomSequences(random, 30).map((tokens) => ({
      tokens,
      from: random(tokens.length),
    }));
    const levels = random(4);
    const seen = sequences.map(() => [] as number[]);
    const branches = plant(sequences, levels);
    const paths: number[][] = [];
    const depths: number[] = [];
    for (const { tokens, after, members, wanted } of branches) {
      const start = after === undefined ? 0 : paths[after].length;
      const path = [...after === undefined ? [] : paths[after], ...tokens as number[]];
      paths.push(path);
      depths.push(after === undefined ? 0 : depths[after] + 1);
      assert(depths.at(-1)! <= levels && tokens.length > 0);
      for (const index of members) {
        const { tokens, from } = sequences[index];
        for (let at = Math.max(from, start + 1); at < tokens.length && at <= path.length; at++) {
          assertEquals(path.slice(0, at), tokens.slice(0, at));
          assert(at - 1 >= (wanted as number));
          seen[index].push(at);
        }
      }
    }
    const expected = sequences.map(({ tokens, from }) =>
      tokens.map((_, at) => at).filter((at) => at >= Math.max(1, from))
    );
    assertEquals(seen, expected, `seed ${seed}`);
  }
});

Deno.test("scores are those of a softmax over each sequence's own logits", async () => {
  for (let seed = 0; seed < 6; seed++) {
    const random = randomOf(100 + seed);
    const sequences = randomSequences(random, 40);
    const inputs = sequences.map((text) => ({ text, from: random(text.length) }));
    // An answer decodes beside it.
    const answer = readAnswer(model.generate({ prompt: "hello", temperature: 0, maxTokens: 9 }));
    const scores = await model.score({ inputs, top: 2 });
    await answer;
    for (const [i, { text, from }] of inputs.entries()) {
      const logits = await model.logits(text);
      const size = logits.length / text.length;
      assertEquals(scores[i].map(({ id }) => id), text.slice(from));
      for (const [j, { id, logprob, rank, top }] of scores[i].entries()) {
        const at = from + j;
        if (at === 0) {
          assertEquals([logprob, rank, top], [undefined, undefined, undefined]);
          continue;
        }
        const row = Array.from(logits.subarray((at - 1) * size, at * size));
        const total = row.reduce((sum, logit) => sum + Math.exp(logit), 0);
        const expected = row.map((logit) => logit - Math.log(total));
        assert(Math.abs(logprob! - expected[id]) < 1e-5);
        const order = expected.toSorted((a, b) => b - a);
        assertEquals(order[rank! - 1], expected[id]);
        top!.forEach((one, k) => assert(Math.abs(one.logprob - order[k]) < 1e-5));
      }
    }
  }
});

Deno.test("a text is encoded as a prompt is, and its scored tokens are told", async () => {
  const [scores] = await model.score({ inputs: [{ text: "héllo<|im_end|>", from: 1 }] });
  assertEquals(scores.map(({ text }) => text).join("").replaceAll("�", ""), "llo<|im_end|>");
  assertEquals(scores.at(-1)!.id, model.tokenizer.encode("<|im_end|>", { special: true })[0]);
  assert(scores.every(({ logprob, rank }) => logprob! < 0 && rank! > 0));
});

Deno.test("what cannot be scored is refused, with the text at fault", async () => {
  const refused = async (request: Parameters<typeof model.score>[0], text: string) => {
    const error = await assertRejects(() => model.score(request), RequestError);
    assert(error.message.includes(text), error.message);
  };
  await refused({ inputs: [] }, "there are none");
  await refused({ inputs: [{ text: [1] }, { text: [] }] }, "text 1: it has no tokens");
  await refused({ inputs: [{ text: [1, 2], from: 2 }] }, "it has 2 tokens, and none is number 2");
  await refused({ inputs: [{ text: [1, 2], from: -1 }] }, "none is number -1");
  await refused({ inputs: [{ text: [1, 99_999] }] }, "token 99999 is out of range");
  await refused({ inputs: [{ text: [1] }], top: 1.5 }, "logprobs is 1.5");
  const long = Array.from({ length: model.contextLength + 1 }, () => 1);
  await assertRejects(() => model.score({ inputs: [{ text: long }] }), ContextLengthError);
  const [whole] = await model.score({ inputs: [{ text: long.slice(1), from: long.length - 2 }] });
  assertEquals(whole.length, 1);
  const abort = AbortSignal.abort(new Error("no"));
  await assertRejects(() => model.score({ inputs: [{ text: [1, 2] }], signal: abort }));
});

Deno.test("what earlier requests have read is not run again, and the scores are the same", async () => {
  await using fresh = await loadModel(tinyPath, { ...tinyLoad, exact: true });
  const text = Array.from({ length: 90 }, (_, i) => 65 + i * 7 % 25);
  const inputs = [66, 67, 68].map((token) => ({ text: [...text, token, 70], from: 90 }));
  const alone = await fresh.score({ inputs });
  const { conversations: none } = await fresh.cacheState();
  assertEquals(none, [], "what is scored is no conversation");
  const [again] = await fresh.score({ inputs: inputs.slice(1, 2) });
  for (const [i, { logprob }] of again!.entries()) {
    assert(Math.abs(logprob! - alone[1]![i]!.logprob!) < 1e-5);
  }
  // A generation that scores its own prompt reads it once.
  const { done } = await readAnswer(
    fresh.generate({ prompt: [65, ...text], promptLogprobs: 0, maxTokens: 1 }),
  );
  assertEquals(done!.usage.cachedTokens, 64);
});
