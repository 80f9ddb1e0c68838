// The kernels where the answer is known without the reference.

import { assert, assertEquals } from "@std/assert";
import { NO_TOKEN } from "../../../kernels/mod.ts";
import type { SamplingOptions } from "../../../kernels/ops/sampling/mod.ts";
import { type Case, GREEDY, maskOf, modelLogits, PLAIN, range } from "./cases.ts";
import { drawn, openDevices, runBatch } from "./harness.ts";

for (const { name, device } of await openDevices()) {
  const run = async (cases: Case[], times?: number) =>
    (await runBatch(device, cases, times)).tokens;

  Deno.test(`Sampler takes the best token for topK 1, topP 0 and minP 1 on ${name}`, async () => {
    const filters = [{ topK: 1 }, { topP: 0 }, { minP: 1 }];
    for (const vocabulary of [7, 1000, 32001]) {
      const logits = modelLogits(vocabulary, 9);
      const best = logits.indexOf(Math.max(...logits));
      const cases = filters.map((filter, position) => ({
        logits,
        options: { ...PLAIN, temperature: 5, ...filter },
        position,
      }));
      cases.push({ logits, options: GREEDY, position: 3 });
      assertEquals(await run(cases), new Array(4).fill(best));
    }
  });

  Deno.test(`Sampler prefers the lowest ids among equal logits on ${name}`, async () => {
    const few = Float32Array.of(1, 2, 1, 2, 1);
    assertEquals(await drawn(device, few, GREEDY), [1]);
    assertEquals(await drawn(device, few, { ...PLAIN, topK: 3 }), [0, 1, 3]);
    assertEquals(await drawn(device, few, { ...PLAIN, topK: 4 }), [0, 1, 2, 3]);
    const equal = new Float32Array(5000).fill(-0.25);
    assertEquals(await drawn(device, equal, GREEDY), [0]);
    assertEquals(await drawn(device, equal, { ...PLAIN, topK: 20 }), range(0, 20));
    assertEquals(await drawn(device, equal, { ...PLAIN, topP: 0.0039999 }), range(0, 20));
    // 2,000 equal tokens fit neither the strips nor the candidates.
    assertEquals(await drawn(device, equal, { ...PLAIN, topK: 2000, topP: 0.01 }), range(0, 20));
    const late = (await drawn(device, equal, { ...PLAIN, topK: 2000 })).at(-1)!;
    assert(late > 1900 && late < 2000, `Expected the last of many draws below 2000, got ${late}`);
    const zeros = Float32Array.from({ length: 100 }, (_, id) => id % 2 ? 0 : -0);
    assertEquals(await drawn(device, zeros, { ...PLAIN, topK: 3 }), [0, 1, 2]);
  });

  Deno.test(`Sampler keeps to topK where topP takes all of it on ${name}`, async () => {
    // One strip of the survey has three of the best tokens, the last two told apart only by the
    // last digits of their keys.
    const logits = new Float32Array(600).fill(-9);
    logits.set([2], 0);
    logits.set([1], 256);
    logits.set([1 - 2 ** -20], 512);
    const options = { ...PLAIN, temperature: 4 };
    assertEquals(await drawn(device, logits, { ...options, topK: 2, topP: 0.9 }), [0, 256]);
    assertEquals(await drawn(device, logits, { ...options, topK: 3, topP: 0.9 }), [0, 256, 512]);
  });

  Deno.test(`Sampler draws a token of probability 1e-6 where its turn is on ${name}`, async () => {
    // The Gumbel variates of tokens 0 and 1 are 2.58 and 16.22 there: see reference.ts.
    const position = 2442421;
    const options = { ...PLAIN, seed: 1n };
    const tokens = await run([-13.6, -13.7].map((logit) => ({
      logits: Float32Array.of(0, logit),
      options,
      position,
    })));
    assertEquals(tokens, [1, 0]);
  });

  Deno.test(`Sampler draws every allowed token and no other on ${name}`, async () => {
    for (const vocabulary of [33, 40000]) {
      const logits = new Float32Array(vocabulary).map((_, id) => id % 3);
      const allowed = [1, 2, 31, 32, vocabulary - 1].filter((id) => id < vocabulary);
      const mask = maskOf(vocabulary, allowed);
      const masked = { ...PLAIN, masked: true, temperature: 4 };
      const distinct = [...new Set(allowed)];
      // The rarest of them comes about every seventh time.
      const draw = (options: SamplingOptions) => drawn(device, logits, options, mask, 100);
      assertEquals(await draw(masked), distinct);
      assertEquals(await draw({ ...masked, topK: 40, topP: 0.9999 }), distinct);
      assertEquals(await draw({ ...masked, temperature: 0 }), [2]);
    }
  });

  const everyPath = [
    GREEDY,
    PLAIN,
    { ...PLAIN, topK: 40, topP: 0.9, minP: 0.1 },
    { ...PLAIN, repeatLastN: 8, repeatPenalty: 1.3 },
  ];

  Deno.test(`Sampler yields a valid token whatever the finite logits on ${name}`, async () => {
    for (const vocabulary of [3, 2000]) {
      for (const value of [-Infinity, 3.4e38, -3.4e38, 1e-40]) {
        const logits = new Float32Array(vocabulary).fill(value);
        // One sound token among them: it is chosen, unless others are infinitely better.
        logits[2] = 1;
        const tokens = await run(
          everyPath.map((options, position) => ({ logits, options, position })),
        );
        for (const token of tokens) assert(token < vocabulary);
        if (value < -1e30) assertEquals(tokens, [2, 2, 2, 2]);
      }
    }
  });

  Deno.test(`Sampler tells of logits that leave no choice, masked or not, on ${name}`, async () => {
    for (const vocabulary of [3, 2000, 32001]) {
      const last = vocabulary - 1;
      const allowed = maskOf(vocabulary, [1]);
      const sound = modelLogits(vocabulary, 4);
      const broken: Float32Array[] = [NaN, -NaN, Infinity].flatMap((value) =>
        [0, 1, last].map((at) => Float32Array.from(sound).fill(value, at, at + 1))
      );
      broken.push(new Float32Array(vocabulary).fill(NaN));
      broken.push(new Float32Array(vocabulary).fill(-Infinity));
      const cases = [sound, ...broken].flatMap((logits, position) =>
        everyPath.flatMap((options) => [
          { logits, options, position, history: [1, 1] },
          { logits, options: { ...options, masked: true }, mask: allowed, position },
        ])
      );
      const { tokens, slots } = await runBatch(device, cases);
      const perLogits = 2 * everyPath.length;
      for (const token of tokens.slice(0, perLogits)) assert(token < vocabulary);
      assertEquals(
        tokens.slice(perLogits),
        new Array(perLogits * broken.length).fill(NO_TOKEN),
      );
      // Steps that are under way already go on from a token that there is.
      for (const [token] of slots) assert(token < vocabulary);
    }
    const masked = { ...PLAIN, masked: true };
    assertEquals(await drawn(device, new Float32Array(50), masked, maskOf(50, [])), [NO_TOKEN]);
  });

  Deno.test(`Sampler penalizes afresh in each step on ${name}`, async () => {
    const options = { ...GREEDY, repeatLastN: 8, frequencyPenalty: 1 };
    const history = [3, 3, 0, 3];
    const logits = Float32Array.of(1, 0, 0, 3.5);
    const cases = [
      { logits, options, history, position: 3 },
      { logits, options: { ...options, repeatLastN: 2 }, history, position: 3 },
      { logits, options, history, position: 1 },
    ];
    // 3.5 - 3 = 0.5 is above 1 - 1 = 0; 3.5 - 1; 3.5 - 2 = 1.5 is above 1.
    assertEquals(await run(cases), [3, 3, 3]);
    const lower = Float32Array.of(1, 0.7, 0, 3.5);
    assertEquals(await run(cases.map((item) => ({ ...item, logits: lower })), 3), [1, 3, 3]);
  });

  Deno.test(`Sampler draws differently by seed, low and high word, on ${name}`, async () => {
    const logits = new Float32Array(1000);
    const seeds = [0n, 1n, 1n << 32n, 1n << 63n];
    const cases = seeds.map((seed) => ({ logits, options: { ...PLAIN, seed }, position: 0 }));
    assertEquals(new Set(await run(cases)).size, seeds.length);
  });

  Deno.test(`Sampler writes each slot's token and next position on ${name}`, async () => {
    const cases = range(0, 9).map((index) => ({
      logits: modelLogits(100, index),
      options: index % 2 ? PLAIN : GREEDY,
      position: 10 * index,
    }));
    const { tokens, slots } = await runBatch(device, cases);
    assertEquals(slots, tokens.map((token, index) => [token, 10 * index + 1]));
  });
}
