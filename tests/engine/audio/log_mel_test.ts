// Log-mel features against a plain transform, and against the independent numbers of the shared data,
// where it exists.

import { assert, assertEquals } from "@std/assert";
import { decodeSound, LogMel } from "../../../engine/audio/mod.ts";
import { FourierTransform } from "../../../engine/audio/fourier.ts";
import { randomFloats } from "../../numbers.ts";

Deno.test("the Fourier transform is that of its definition", () => {
  for (const size of [1, 2, 7, 12, 60, 400, 512]) {
    const [real, imaginary] = [1, 2].map((seed) => Float64Array.from(randomFloats(size, seed)));
    const expected = Array.from({ length: size }, (_, k) => {
      const sum = [0, 0];
      for (let i = 0; i < size; i++) {
        const angle = -2 * Math.PI * i * k / size;
        sum[0] += real[i] * Math.cos(angle) - imaginary[i] * Math.sin(angle);
        sum[1] += real[i] * Math.sin(angle) + imaginary[i] * Math.cos(angle);
      }
      return sum;
    });
    new FourierTransform(size).transform(real, imaginary);
    expected.forEach(([a, b], k) => {
      assert(Math.abs(real[k] - a) + Math.abs(imaginary[k] - b) < 1e-11 * size, `${size} ${k}`);
    });
  }
});

Deno.test("silence is -1.5 everywhere, and nothing follows the last frame", async () => {
  const mel = await LogMel.measure(new Float32Array(3200), 80, { zeros: 80 });
  assertEquals(mel.frames, 20);
  assertEquals(new Set(mel.read(0, 20)), new Set([-1.5]));
  assertEquals(new Set(mel.read(20, 3)), new Set([0]));
});

Deno.test("sounds shorter than a window have features", async () => {
  for (const length of [0, 1, 159, 160, 170, 401]) {
    const samples = randomFloats(length, 3);
    const mel = await LogMel.measure(samples, 128);
    assertEquals(mel.frames, Math.floor(length / 160));
    assert(mel.read(0, 4).every(Number.isFinite));
  }
});

Deno.test("frames are the same, however they are read", async () => {
  const mel = await LogMel.measure(randomFloats(5000, 4), 80);
  const whole = mel.read(0, 31);
  for (let frame = 0; frame < 31; frame++) {
    assertEquals(mel.read(frame, 1), whole.slice(80 * frame, 80 * (frame + 1)));
  }
});

const shared = new URL("../../../../shared/data/whisper/", import.meta.url);
const hasData = await Deno.stat(shared).then(() => true, () => false);

Deno.test({
  name: "features are those of the reference (shared data)",
  ignore: !hasData,
  async fn() {
    const manifest = JSON.parse(await Deno.readTextFile(new URL("manifest.json", shared)));
    for (const name of ["en_short", "stereo44_16k", "silence"]) {
      const { file, mel: { shape: [bins, frames], stored_frames: stored, rest, ...mel } } =
        manifest[name];
      const samples = await decodeSound(await Deno.readFile(new URL(file, shared)));
      assertEquals(samples.length, manifest[name].samples);
      const features = await LogMel.measure(samples, bins, { zeros: 480_000 - samples.length });
      const got = features.read(0, frames);
      const bytes = await Deno.readFile(new URL(mel.file, shared));
      const expected = new Float32Array(bytes.buffer); // [bins, stored]
      for (let i = 0; i < bins * frames; i++) {
        const [frame, bin] = [Math.floor(i / bins), i % bins];
        const value = frame < stored ? expected[bin * stored + frame] : rest;
        assert(Math.abs(got[i] - value) < 1e-6, `${name}: frame ${frame}, bin ${bin}`);
      }
    }
  },
});

Deno.test({
  name: "FLAC at 44.1 kHz sounds like its resampled WAV file (shared data)",
  ignore: !hasData,
  async fn() {
    const featuresOf = async (file: string) => {
      const samples = await decodeSound(await Deno.readFile(new URL(file, shared)));
      assertEquals(samples.length, 86_356);
      return (await LogMel.measure(samples, 80)).read(0, 539);
    };
    const [ours, theirs] = [
      await featuresOf("stereo44.flac"),
      await featuresOf("stereo44.16k.wav"),
    ];
    const sum = ours.reduce((sum, value, i) => sum + Math.abs(value - theirs[i]), 0);
    assert(sum / ours.length < 0.003, `features differ by ${sum / ours.length} on average`);
  },
});
