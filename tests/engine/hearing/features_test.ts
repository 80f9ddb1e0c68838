// The features that audio encoders hear: how many windows and frames a sound of any length has, and the bands
// of a spectrum against a plain Fourier transform.

import { assert, assertEquals } from "@std/assert";
import { hannWindow, melFilters, MelSpectrum } from "../../../engine/audio/mod.ts";
import {
  gemmaFeatures,
  minuteFeatures,
  nemoFeatures,
  pairedFeatures,
  sampleFeatures,
  secondsFeatures,
  type SoundFeatures,
  whisperFeatures,
  wideFeatures,
} from "../../../engine/hearing/features.ts";
import { randomFloats } from "../../numbers.ts";

const nemo = {
  bins: 16,
  value: (power: number) => Math.log(power + 1e-6),
  scale: (value: number, variance: number) => value / Math.sqrt(variance + 1e-5),
  endsInZeros: true,
};

const KINDS: readonly (readonly [name: string, features: SoundFeatures])[] = [
  ["Whisper's", whisperFeatures(16)],
  ["Qwen3-Omni's", secondsFeatures(16)],
  ["minutes", minuteFeatures(16)],
  ["Gemma's", gemmaFeatures(16)],
  ["samples", sampleFeatures(640)],
  ["NeMo's", nemoFeatures(nemo)],
  ["Granite's", pairedFeatures(32)],
  ["at 24 kHz", wideFeatures(16)],
];

for (const [name, features] of KINDS) {
  Deno.test(`features: ${name}, windows follow from the length alone`, async () => {
    for (const length of [1600, 1601, 16_079, 16_080]) {
      const windows = await features.read(randomFloats(length, length));
      assertEquals(windows.map(({ frames }) => frames), features.windows(length), `${length}`);
      for (const { frames, values } of windows) {
        assert(frames >= 1 && frames <= features.most && values.length % frames === 0);
        assert(values.every(Number.isFinite), `${length} samples`);
      }
    }
  });
}

Deno.test("a spectrum is that of a plain transform, of both windows", () => {
  const [size, rate, bins] = [64, 8000, 6];
  const samples = [randomFloats(size, 1), randomFloats(size, 2)];
  for (const scale of ["slaney", "htk"] as const) {
    const filters = melFilters({ bins, size, rate, scale });
    for (const magnitudes of [false, true]) {
      const window = hannWindow(40, size, 12);
      const found = new MelSpectrum({ window, filters, magnitudes }).pair(samples[0], samples[1]);
      samples.forEach((values, i) =>
        filters.forEach(({ from, weights }, bin) => {
          let expected = 0;
          weights.forEach((weight, j) => {
            let [real, imaginary] = [0, 0];
            values.forEach((value, n) => {
              const angle = -2 * Math.PI * n * (from + j) / size;
              real += value * window[n] * Math.cos(angle);
              imaginary += value * window[n] * Math.sin(angle);
            });
            const power = real ** 2 + imaginary ** 2;
            expected += weight * (magnitudes ? Math.sqrt(power) : power);
          });
          const error = Math.abs(found[i * bins + bin] - expected);
          assert(error <= 1e-12 * (1 + expected), `${scale}, band ${bin}: off by ${error}`);
        })
      );
    }
  }
});
