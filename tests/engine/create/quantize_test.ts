// The encoders against the decoders of the kernels: what is written is what is read, with as small an
// error as the formats allow, and for simple formats with the very codes of GGML's reference.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { randomWeights } from "../../../bench/random_weights.ts";
import { encoderOf } from "../../../engine/create/quantize/encoder.ts";
import { parseQuantization } from "../../../engine/create/quantize/mod.ts";
import { RequestError } from "../../../engine/mod.ts";
import { quantFormat } from "../../../kernels/quants/mod.ts";

/** Weights as their format has them. */
function roundTrip(format: string, weights: Float32Array): Float32Array {
  const { id, blockSize, blockBytes, encode } = encoderOf(format);
  const blocks = weights.length / blockSize;
  const target = new Uint8Array(blocks * blockBytes);
  encode(weights, target);
  return quantFormat(id)!.dequantize(target, blocks);
}

/** Normally distributed weights: sums of twelve even ones. */
function normal(count: number): Float32Array {
  const [bytes] = randomWeights("F32", 12 * count, { mean: 0, deviation: 0.02, seed: 1 });
  const even = new Float32Array(bytes.slice().buffer);
  return Float32Array.from({ length: count }, (_, i) => {
    return even.subarray(12 * i, 12 * (i + 1)).reduce((sum, value) => sum + value) / Math.sqrt(12);
  });
}

function relativeError(actual: Float32Array, expected: Float32Array): number {
  let [error, power] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    error += (actual[i] - expected[i]) ** 2;
    power += expected[i] ** 2;
  }
  return error / power;
}

/** Of normal weights. llama.cpp's own quantizers: Q4_K 5.1e-3, Q5_K 1.3e-3, Q6_K 3.15e-4. */
const BOUNDS: readonly [format: string, error: number][] = [
  ["F32", 0],
  ["F16", 1e-7],
  ["BF16", 3e-6],
  ["Q8_0", 3e-5],
  ["Q4_0", 7.7e-3],
  ["Q5_0", 1.9e-3],
  ["Q5_1", 1.5e-3],
  ["Q4_K", 5.2e-3],
  ["Q5_K", 1.3e-3],
  ["Q6_K", 3.3e-4],
];

for (const [format, bound] of BOUNDS) {
  Deno.test(`${format} keeps normal weights to an error of ${bound}`, () => {
    const weights = normal(1 << 16);
    const error = relativeError(roundTrip(format, weights), weights);
    assert(error <= bound, `${error}`);
    // An encoder that is much better than the format allows does not encode.
    assert(error >= bound / 3, `${error}`);
  });
}

const SHAPES: readonly [name: string, weightAt: (i: number) => number][] = [
  ["zeros", () => 0],
  ["one value", () => 0.75],
  ["one negative value", () => -0.75],
  ["values above zero", (i) => 1 + (i % 7) / 7],
  ["values below zero", (i) => -1 - (i % 7) / 7],
  ["one outlier", (i) => i === 77 ? 1 : 1e-4],
  ["zeros but for one", (i) => i === 3 ? -2 : 0],
  ["tiny values", (i) => (i % 5 - 2) * 1e-42],
  ["great values", (i) => (i % 5 - 2) * 1e4],
];

for (const [name, weightAt] of SHAPES) {
  for (const format of ["Q8_0", "Q4_0", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]) {
    Deno.test(`${format} keeps ${name} to within a step of its range`, () => {
      const weights = Float32Array.from({ length: 512 }, (_, i) => weightAt(i));
      const decoded = roundTrip(format, weights);
      // The coarsest code, four bits over both signs, has steps of an eighth of the magnitude.
      const magnitude = Math.max(...weights.map(Math.abs));
      for (const [i, value] of decoded.entries()) {
        const error = Math.abs(value - weights[i]);
        assert(error <= magnitude / 8 + 1e-7, `weight ${i}: ${weights[i]} became ${value}`);
      }
    });
  }
}

Deno.test("encoders write the same blocks whatever comes before", () => {
  const weights = normal(2048);
  for (const [format] of BOUNDS) {
    const whole = roundTrip(format, weights);
    const part = roundTrip(format, weights.slice(1024, 1280));
    assertEquals(part, whole.slice(1024, 1280), format);
  }
});

Deno.test("Q8_0 rounds ties away from zero", () => {
  const weights = new Float32Array(32);
  weights.set([127, 0.5, -0.5, 1.5, -1.5, 2.4, -2.6]);
  const expected = [127, 1, -1, 2, -2, 2, -3, 0];
  assertEquals([...roundTrip("Q8_0", weights).slice(0, 8)], expected);
});

Deno.test("Q4_0 gives the furthest weight the code of -8, and no more than 15 to others", () => {
  const weights = new Float32Array(32);
  weights.set([8, -8, 7, 0.5, -0.5, 0.4]);
  // The scale is -1: 8 becomes code 0, and -8 would need code 16.
  const decoded = [...roundTrip("Q4_0", weights).slice(0, 6)].map((weight) => weight + 0);
  assertEquals(decoded, [8, -7, 7, 0, -1, 0]);
});

Deno.test("BF16 rounds to the nearest, ties to even", () => {
  const weights = new Float32Array(Uint32Array.of(0x3f808000, 0x3f818000, 0x3f808001).buffer);
  const expected = new Float32Array(Uint32Array.of(0x3f800000, 0x3f820000, 0x3f810000).buffer);
  assertEquals(roundTrip("BF16", weights), expected);
});

Deno.test("parseQuantization() knows mixes in capitals or not, and Q4_K for Q4_K_M", () => {
  const texts = ["q8_0", "Q4_K", "q4_k_m", "Q4_K_S", "f16", "bf16", "F32", "q4_0"];
  const expected = ["Q8_0", "Q4_K_M", "Q4_K_M", "Q4_K_S", "F16", "BF16", "F32", "Q4_0"];
  assertEquals(texts.map(parseQuantization), expected);
});

for (const text of ["Q3_K_M", "", "toString", "__proto__"]) {
  Deno.test(`parseQuantization() refuses ${JSON.stringify(text)} and names what there is`, () => {
    const message = `unsupported quantization type ${text} - supported types are F32, F16, BF16`;
    assertThrows(() => parseQuantization(text), RequestError, message);
  });
}
