// The CPU reference against answers worked out by hand, and the layout of the packed options.

import { SAMPLING } from "../../../kernels/mod.ts";
import { assertEquals } from "@std/assert";
import {
  hasPenalties,
  NO_TOKEN,
  packSampling,
  sampleReference,
  type SamplingInput,
  type SamplingOptions,
} from "../../../kernels/ops/sampling/mod.ts";
import { philox } from "../../../kernels/ops/sampling/reference.ts";
import { GREEDY, maskOf, PLAIN } from "./cases.ts";
import { FILTERS_OFF } from "../../../kernels/ops/filters/list.ts";

/** Logits whose softmax has these probabilities. */
function logitsOf(...probabilities: number[]): Float32Array {
  return Float32Array.from(probabilities, Math.log);
}

/** The tokens that 300 draws yield, in order. */
function drawn(
  logits: Float32Array,
  options: SamplingOptions,
  input: Partial<SamplingInput> = {},
): number[] {
  const draws = Array.from(
    { length: 300 },
    (_, position) => sampleReference(logits, options, { ...input, position }).token,
  );
  return [...new Set(draws)].sort((a, b) => a - b);
}

Deno.test("philox() yields the known answers of its authors", () => {
  assertEquals(
    [...philox([0, 0, 0, 0], 0n)],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  );
  assertEquals(
    [...philox([~0, ~0, ~0, ~0], 0xffffffffffffffffn)],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  );
  assertEquals(
    [...philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], 0x299f31d0a4093822n)],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  );
});

Deno.test("sampleReference() takes the best token at temperature 0, the first among equals", () => {
  const logits = Float32Array.of(1, 3, -2, 3, 0);
  assertEquals(sampleReference(logits, GREEDY, { position: 0 }).token, 1);
  assertEquals(sampleReference(logits, { ...GREEDY, topK: 1 }, { position: 9 }).token, 1);
});

Deno.test("sampleReference() keeps the topK best tokens, the first among equals", () => {
  const logits = Float32Array.of(1, 2, 1, 2, 1);
  assertEquals(drawn(logits, { ...PLAIN, topK: 1 }), [1]);
  assertEquals(drawn(logits, { ...PLAIN, topK: 3 }), [0, 1, 3]);
  assertEquals(drawn(logits, { ...PLAIN, topK: 9 }), [0, 1, 2, 3, 4]);
});

Deno.test("sampleReference() keeps the fewest tokens with the share topP, at least one", () => {
  const logits = logitsOf(0.15, 0.5, 0.1, 0.25);
  assertEquals(drawn(logits, { ...PLAIN, topP: 0 }), [1]);
  assertEquals(drawn(logits, { ...PLAIN, topP: 0.49 }), [1]);
  assertEquals(drawn(logits, { ...PLAIN, topP: 0.7 }), [1, 3]);
  assertEquals(drawn(logits, { ...PLAIN, topP: 0.8 }), [0, 1, 3]);
});

Deno.test("sampleReference() takes topP of what topK kept, at temperature 1", () => {
  const logits = logitsOf(0.15, 0.5, 0.1, 0.25);
  // 0.5 of the 0.75 that are kept is a share of 2/3.
  assertEquals(drawn(logits, { ...PLAIN, topK: 2, topP: 0.66 }), [1]);
  assertEquals(drawn(logits, { ...PLAIN, topK: 2, topP: 0.67, temperature: 2 }), [1, 3]);
});

Deno.test("sampleReference() keeps tokens with a share minP of the best one", () => {
  const logits = logitsOf(0.15, 0.5, 0.1, 0.25);
  assertEquals(drawn(logits, { ...PLAIN, minP: 0.29 }), [0, 1, 3]);
  assertEquals(drawn(logits, { ...PLAIN, minP: 0.31 }), [1, 3]);
  assertEquals(drawn(logits, { ...PLAIN, minP: 1 }), [1]);
});

Deno.test("sampleReference() keeps logits within topNSigma deviations of all, before top_p", () => {
  const logits = Float32Array.of(4, 2, 0, 0, -2, -2, 0, 0, 2, -4);
  const deviation = Math.sqrt(4.8);
  assertEquals(drawn(logits, { ...PLAIN, temperature: 9, topNSigma: 2 / deviation - 0.01 }), [0]);
  assertEquals(drawn(logits, { ...PLAIN, temperature: 9, topNSigma: 2 / deviation + 0.01 }), [
    0,
    1,
    8,
  ]);
  assertEquals(drawn(logits, { ...PLAIN, temperature: 9, topNSigma: 1, topK: 2 }), [0, 1]);
  // top_p is a share of what is left: 0.79 of it is the first token.
  assertEquals(drawn(logits, { ...PLAIN, temperature: 9, topNSigma: 1, topP: 0.78 }), [0]);
  assertEquals(drawn(logits, { ...PLAIN, temperature: 9, topNSigma: -1 }).length, 10);
  // Tokens that a mask or a ban leaves out do not count.
  const banned = Float32Array.of(4, 2, 0, 0, -2, -2, 0, 0, 2, -4, -1e9, -Infinity);
  assertEquals(drawn(banned, { ...PLAIN, temperature: 9, topNSigma: 1 }), [0, 1, 8]);
});

Deno.test("sampleReference() keeps the most typical tokens with the share typicalP", () => {
  // Entropy 1.28; surprises 0.69, 1.39, 1.90, 2.30: the second is the most typical, then the first, the
  // third and the last.
  const logits = logitsOf(0.5, 0.25, 0.15, 0.1);
  assertEquals(drawn(logits, { ...PLAIN, typicalP: 0 }), [1]);
  assertEquals(drawn(logits, { ...PLAIN, typicalP: 0.2 }), [1]);
  assertEquals(drawn(logits, { ...PLAIN, typicalP: 0.3 }), [0, 1]);
  assertEquals(drawn(logits, { ...PLAIN, typicalP: 0.8 }), [0, 1, 2]);
  assertEquals(drawn(logits, { ...PLAIN, typicalP: 1 }), [0, 1, 2, 3]);
  assertEquals(drawn(logits, { ...PLAIN, typicalP: 0.2, topK: 1 }), [0]);
});

Deno.test("sampleReference() drops likely tokens but the least likely of them, as often as XTC says", () => {
  const logits = logitsOf(0.4, 0.3, 0.2, 0.1);
  const xtc = { ...PLAIN, xtcProbability: 1 };
  assertEquals(drawn(logits, { ...xtc, xtcThreshold: 0.15 }), [2, 3]);
  assertEquals(drawn(logits, { ...xtc, xtcThreshold: 0.25 }), [1, 2, 3]);
  assertEquals(drawn(logits, { ...xtc, xtcThreshold: 0.35 }), [0, 1, 2, 3]);
  assertEquals(drawn(logits, { ...xtc, xtcThreshold: 0.5 }), [0, 1, 2, 3]);
  assertEquals(drawn(logits, { ...xtc, xtcThreshold: 0.15, minP: 0.4 }), [2]);
  // One position in four drops the first token, which comes in 40 % of the others: in 30 % of all.
  const often = Array.from(
    { length: 4000 },
    (_, position) =>
      sampleReference(logits, { ...xtc, xtcProbability: 0.25, xtcThreshold: 0.15 }, { position }),
  );
  const share = often.filter(({ token }) => token === 0).length / 4000;
  assertEquals(Math.abs(share - 0.3) < 0.03, true, `${share}`);
});

Deno.test("sampleReference() draws hotter the less certain the model is", () => {
  const share = (logits: Float32Array, options: Partial<SamplingOptions>) => {
    const draws = Array.from(
      { length: 4000 },
      (_, position) => sampleReference(logits, { ...PLAIN, ...options }, { position }),
    );
    return draws.filter(({ token }) => token === 0).length / 4000;
  };
  const logits = logitsOf(0.6, 0.4);
  const entropy = -(0.6 * Math.log2(0.6) + 0.4 * Math.log2(0.4));
  for (const dynatempExponent of [1, 3]) {
    const temperature = 0.1 + 1.8 * entropy ** dynatempExponent;
    const expected = 1 / (1 + (0.4 / 0.6) ** (1 / temperature));
    const is = share(logits, { dynatempRange: 0.9, dynatempExponent });
    assertEquals(Math.abs(is - expected) < 0.03, true, `${is} instead of ${expected}`);
  }
  const sure = logitsOf(0.999, 0.001);
  assertEquals(share(sure, { dynatempRange: 1 }), 1);
});

Deno.test("sampleReference() draws only tokens that the mask allows", () => {
  const logits = new Float32Array(70);
  const mask = maskOf(70, [3, 40, 69]);
  assertEquals(drawn(logits, { ...PLAIN, masked: true }, { mask }), [3, 40, 69]);
  assertEquals(drawn(logits, { ...PLAIN, masked: true, topK: 2 }, { mask }), [3, 40]);
  assertEquals(drawn(logits, { ...PLAIN, topK: 2 }, { mask }), [0, 1]);
});

Deno.test("sampleReference() penalizes each of the last repeatLastN tokens once", () => {
  const history = [2, 0, 0, 1];
  const input = { history, position: 3 };
  const penalty = { ...GREEDY, repeatLastN: 3 };
  const choose = (logits: number[], options: Partial<SamplingOptions>) =>
    sampleReference(Float32Array.from(logits), { ...penalty, ...options }, input).token;
  // 4 / 2 = 2 twice would be 1; a negative logit is multiplied: -1 becomes -2.
  assertEquals(choose([4, 0, 1.5], { repeatPenalty: 2 }), 0);
  assertEquals(choose([4, 0, 2.5], { repeatPenalty: 2 }), 2);
  assertEquals(choose([-1, -3, -1.5], { repeatPenalty: 2 }), 2);
  assertEquals(choose([4, 0, 2.5], { frequencyPenalty: 0.8 }), 2);
  assertEquals(choose([4, 0, 2.5], { frequencyPenalty: 0.7 }), 0);
  assertEquals(choose([4, 0, 2.5], { presencePenalty: 1.4 }), 0);
  assertEquals(choose([4, 0, 2.5], { presencePenalty: 1.6 }), 2);
  assertEquals(choose([4, 0, 4.5], { presencePenalty: 1.6, repeatLastN: 4 }), 2);
  assertEquals(
    choose([4, 0, 4.5], { presencePenalty: 1.6, repeatLastN: 4, frequencyPenalty: -1 }),
    0,
  );
  assertEquals(choose([4, 0, 2.5], { presencePenalty: 1.6, repeatLastN: 0 }), 0);
});

Deno.test("sampleReference() never draws -inf, and NO_TOKEN where there is no choice", () => {
  const logits = Float32Array.of(-Infinity, 1, 2, -Infinity);
  assertEquals(drawn(logits, PLAIN), [1, 2]);
  assertEquals(drawn(new Float32Array(4).fill(-Infinity), PLAIN), [NO_TOKEN]);
  for (const value of [NaN, Infinity]) {
    assertEquals(drawn(Float32Array.of(1, value, 2), PLAIN), [NO_TOKEN]);
    assertEquals(drawn(Float32Array.of(1, value, 2), GREEDY), [NO_TOKEN]);
  }
});

Deno.test("sampleReference() draws with the frequencies of the softmax at the temperature", () => {
  const logits = Float32Array.of(0, 1, 2);
  const options = { ...PLAIN, temperature: 2, seed: 7n };
  const draws = 6000;
  const counts = [0, 0, 0];
  for (let position = 0; position < draws; position++) {
    counts[sampleReference(logits, options, { position }).token]++;
  }
  const weights = [1, Math.exp(0.5), Math.exp(1)];
  const total = weights.reduce((a, b) => a + b);
  const chiSquare = counts
    .map((count, id) => (count - draws * weights[id] / total) ** 2 / (draws * weights[id] / total))
    .reduce((a, b) => a + b);
  assertEquals(chiSquare < 13.8, true, `chi-square ${chiSquare} of 2 degrees, counts ${counts}`);
});

Deno.test("packSampling() lays the options out, those of filters last and off where they are missing", () => {
  const packed = packSampling({
    temperature: 0.5,
    topK: 40,
    topP: 0.75,
    minP: 0.25,
    repeatPenalty: 1.5,
    presencePenalty: 2,
    frequencyPenalty: -3,
    repeatLastN: 64,
    seed: 0x123456789abcdef0n,
    masked: true,
  });
  const floats = new Float32Array(packed.buffer);
  const words = new Uint32Array(packed.buffer);
  assertEquals(packed.byteLength, SAMPLING.bytes);
  assertEquals([floats[0], words[1], floats[2], floats[3]], [0.5, 40, 0.75, 1.5]);
  assertEquals([floats[4], floats[5], words[6]], [2, -3, 64]);
  assertEquals([...words.subarray(7, 10)], [1, 0x9abcdef0, 0x12345678]);
  assertEquals(floats[SAMPLING.word.minP], 0.25);
  const { minP: _, ...others } = PLAIN;
  for (const [name, value] of Object.entries(FILTERS_OFF)) {
    const at = SAMPLING.word[name as keyof typeof FILTERS_OFF];
    assertEquals(new Float32Array(packSampling(others).buffer)[at], Math.fround(value));
  }
});

Deno.test("hasPenalties() tells whether a penalty would change a logit", () => {
  assertEquals(hasPenalties(PLAIN), false);
  assertEquals(hasPenalties({ ...PLAIN, repeatLastN: 64 }), false);
  assertEquals(hasPenalties({ ...PLAIN, repeatPenalty: 1.1 }), false);
  assertEquals(hasPenalties({ ...PLAIN, repeatLastN: 64, repeatPenalty: 1.1 }), true);
  assertEquals(hasPenalties({ ...PLAIN, repeatLastN: 64, frequencyPenalty: -1 }), true);
});
