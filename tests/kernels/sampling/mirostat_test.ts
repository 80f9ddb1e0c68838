// Mirostat: what it keeps and how its bound moves against the formulas of llama.cpp, in the order of its
// loops over sorted candidates; and the surprise of a long answer, which has to come near to tau.

import {
  Mirostat,
  type MirostatOptions,
  NO_TOKEN,
  sampleReference,
} from "../../../kernels/ops/sampling/mod.ts";
import { maskOf, modelLogits, PLAIN, range } from "./cases.ts";
import { assert, assertEquals } from "@std/assert";

const VOCABULARY = 1000;

function assertNear(actual: number, expected: number, tolerance: number): void {
  assert(Math.abs(actual - expected) < tolerance, `${actual} is not ${expected}`);
}

/** The tokens that are kept, likeliest first, with their renormalized probabilities. */
function keptByDefinition(
  { version }: MirostatOptions,
  logits: Float32Array,
  temperature: number,
  mu: number,
): Map<number, number> {
  const sorted = [...logits.keys()].sort((a, b) => logits[b] - logits[a] || a - b);
  const softmax = (ids: number[]) => {
    const weights = ids.map((id) => Math.exp((logits[id] - logits[ids[0]]) / temperature));
    const sum = weights.reduce((a, b) => a + b);
    return weights.map((weight) => weight / sum);
  };
  const p = softmax(sorted);
  let size: number;
  if (version === 2) {
    size = p.findIndex((value) => -Math.log2(value) > mu);
    if (size < 0) size = sorted.length;
  } else {
    let [tiBi, tiSq] = [0, 0];
    for (let i = 0; i < 99 && i < sorted.length - 1; i++) {
      const t = Math.log((i + 2) / (i + 1));
      tiBi += t * Math.log(p[i] / p[i + 1]);
      tiSq += t * t;
    }
    const s = tiBi / tiSq;
    const epsilon = s - 1;
    const k = Math.pow(epsilon * 2 ** mu / (1 - Math.pow(sorted.length, -epsilon)), 1 / s);
    size = Math.min(sorted.length, Math.trunc(k));
  }
  const ids = sorted.slice(0, Math.max(1, size));
  const shares = softmax(ids);
  return new Map(ids.map((id, at) => [id, shares[at]]));
}

for (const version of [1, 2] as const) {
  Deno.test(`Mirostat ${version} keeps what llama.cpp's formulas keep, token by token`, () => {
    const options = { version, tau: 3, eta: 0.3 };
    const mirostat = new Mirostat(options);
    let mu = 2 * options.tau;
    const sizes = new Set<number>();
    let drops = 0;
    for (const position of range(0, 60)) {
      const logits = modelLogits(VOCABULARY, position % 7);
      const sampling = { ...PLAIN, temperature: [0.7, 1, 1.4][position % 3], seed: 9n };
      const kept = keptByDefinition(options, logits, sampling.temperature, mu);
      sizes.add(kept.size);
      const free = sampleReference(logits, sampling, { position }).token;
      const token = mirostat.choose(free, logits, sampling, { position });
      if (token !== free) drops++;
      // The draw is the sampler's own among the tokens that are kept.
      const mask = maskOf(VOCABULARY, kept.keys());
      const drawn = sampleReference(logits, { ...sampling, masked: true }, { position, mask });
      assertEquals(token, drawn.token, `${position}`);
      const surprise = -Math.log2(kept.get(token)!);
      assertNear(mirostat.surprise, surprise, 1e-9);
      mirostat.take();
      mu -= options.eta * (surprise - options.tau);
      assertNear(mirostat.bound, mu, 1e-9);
    }
    assert(sizes.size > 20, `${[...sizes]}`);
    assert(drops > 5 && drops < 55, `${drops}`);
  });

  Deno.test(`Mirostat ${version} brings the mean surprise near tau`, () => {
    for (const tau of [1, 2.5, 4]) {
      const mirostat = new Mirostat({ version, tau, eta: 0.1 });
      let sum = 0;
      for (const position of range(0, 1200)) {
        const [logits, options] = [modelLogits(300, position), { ...PLAIN, seed: 4n }];
        mirostat.choose(NO_TOKEN, logits, options, { position });
        mirostat.take();
        if (position >= 200) sum += mirostat.surprise;
      }
      assertNear(sum / 1000, tau, 0.05);
    }
  });

  Deno.test(`Mirostat ${version} keeps the likeliest where the bound leaves none, and heeds masks`, () => {
    const mirostat = new Mirostat({ version, tau: 0, eta: 1 });
    const logits = Float32Array.of(1, 4, 3, 4);
    const choose = (ids: number[]) =>
      mirostat.choose(2, logits, { ...PLAIN, masked: true }, { position: 1, mask: maskOf(4, ids) });
    assertEquals([[0, 1, 2, 3], [0, 2], [0]].map(choose), [1, 2, 0]);
    assertEquals(mirostat.surprise, 0);
    const biased = { position: 1, biases: [[0, 9]] as [number, number][] };
    assertEquals(mirostat.choose(2, logits, PLAIN, biased), 0);
    const penalties = { ...PLAIN, presencePenalty: 2, repeatLastN: 9 };
    assertEquals(mirostat.choose(1, logits, penalties, { position: 1, history: [1, 3] }), 2);
  });
}
