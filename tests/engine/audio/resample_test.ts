// Resampling: sines come out as sines of the other rate, what the lower rate cannot hold is gone, and
// blocks of any size give the same samples.

import { assert, assertEquals } from "@std/assert";
import { Resampler } from "../../../engine/audio/resample.ts";

function sine(hertz: number, rate: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => Math.sin(2 * Math.PI * hertz * i / rate));
}

function resample(samples: Float32Array, from: number, to: number, block = samples.length) {
  const resampler = new Resampler(from, to);
  const parts: Float32Array[] = [];
  for (let at = 0; at < samples.length; at += block) {
    parts.push(resampler.push(samples.subarray(at, at + block)));
  }
  parts.push(resampler.end());
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

/** The largest difference away from the ends, where the filter sees zeros. */
function worst(a: Float32Array, b: Float32Array, margin: number): number {
  let most = 0;
  for (let i = margin; i < a.length - margin; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}

// 44,057 Hz is in no simple ratio to 16,000, so its outputs lie between two phases.
for (const rate of [8_000, 11_025, 22_050, 24_000, 44_100, 44_057, 48_000, 96_000]) {
  Deno.test(`${rate} Hz: sines stay, and what 16 kHz cannot hold goes`, () => {
    const lower = Math.min(rate, 16_000);
    for (const share of [0.01, 0.2, 0.45]) {
      const hertz = share * lower;
      const got = resample(sine(hertz, rate, rate / 5), rate, 16_000);
      assertEquals(got.length, Math.ceil(Math.floor(rate / 5) * 16_000 / rate));
      const difference = worst(got, sine(hertz, 16_000, got.length), 300);
      assert(difference < 3e-4, `${hertz} Hz differ by ${difference}`);
    }
    if (rate <= 16_500) return;
    const gone = resample(sine(8_300, rate, rate / 5), rate, 16_000);
    const left = worst(gone, new Float32Array(gone.length), 300);
    assert(left < 3e-4, `8,300 Hz leave ${left}`);
  });
}

Deno.test("the size of blocks does not matter", () => {
  const samples = sine(440, 44_100, 5_000);
  const whole = resample(samples, 44_100, 16_000);
  for (const block of [1, 7, 160, 4_096]) {
    assertEquals(resample(samples, 44_100, 16_000, block), whole);
  }
});

Deno.test("no samples give none", () => {
  assertEquals(resample(new Float32Array(), 44_100, 16_000, 1).length, 0);
});
