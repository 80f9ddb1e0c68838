// Where somebody speaks: bursts of tones in silence and in noise, what is cut out, and times in what is left.

import { assert, assertEquals } from "@std/assert";
import { CutSound, findVoice, type VoicedPart } from "../../../engine/speech/voice.ts";
import { randomFloats } from "../../numbers.ts";

const RATE = 16_000;

/** Syllables of a fifth of a second, with pauses between, from a second to another. */
function speak(samples: Float32Array, from: number, to: number, loudness: number): void {
  for (let i = from * RATE; i < to * RATE; i++) {
    const syllable = Math.sin(Math.PI * i / RATE * 4) ** 2;
    samples[i] += loudness * syllable * Math.sin(2 * Math.PI * 600 * i / RATE);
  }
}

function noise(seconds: number, loudness: number): Float32Array {
  return randomFloats(seconds * RATE, 5)
    .map((value) => loudness * Math.max(-1, Math.min(1, value)));
}

function find(samples: Float32Array): VoicedPart[] {
  const work = findVoice(samples);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** In seconds, to a tenth. */
const seconds = (parts: VoicedPart[]) =>
  parts.map(({ from, to }) => [from, to].map((at) => Math.round(at / RATE * 10) / 10));

Deno.test("speech is found in silence and in noise, loud or not", () => {
  for (const [loudness, level] of [[0.5, 0], [0.01, 0], [0.5, 0.01], [0.1, 0.01]]) {
    const samples = noise(60, level);
    speak(samples, 5, 10, loudness);
    speak(samples, 11.5, 13, loudness);
    speak(samples, 40, 52, loudness);
    const found = seconds(find(samples));
    assertEquals(found.length, 2, `${JSON.stringify(found)} at ${loudness} in ${level}`);
    for (const [i, [from, to]] of [[4.6, 13.4], [39.6, 52.4]].entries()) {
      assert(Math.abs(found[i][0] - from) < 0.25 && Math.abs(found[i][1] - to) < 0.25, `${found}`);
    }
  }
});

Deno.test("silence, noise and a click are no speech, and a sound that is full is whole", () => {
  assertEquals(find(new Float32Array(0)), []);
  assertEquals(find(new Float32Array(10 * RATE)), []);
  assertEquals(find(noise(20, 0.1)), []);
  const click = new Float32Array(10 * RATE);
  click[80_000] = 0.9;
  assertEquals(find(click), []);
  const full = noise(8, 0.001);
  speak(full, 0, 8, 0.3);
  const parts = find(full);
  assertEquals(parts, [{ from: 0, to: full.length }]);
  assertEquals(new CutSound(full, parts).samples, full);
});

Deno.test("noise that becomes louder is not speech for long", () => {
  const samples = noise(120, 0.001);
  samples.set(noise(60, 0.1), 60 * RATE);
  speak(samples, 10, 14, 0.5);
  speak(samples, 100, 104, 0.9);
  const found = find(samples);
  assert(found.reduce((sum, { from, to }) => sum + to - from, 0) < 40 * RATE);
  assert(found.some(({ from, to }) => from < 100 * RATE && to > 104 * RATE));
});

Deno.test("times in a cut sound are those of the whole one", () => {
  const samples = Float32Array.from({ length: 10 * RATE }, (_, i) => i);
  const cut = new CutSound(samples, [
    { from: RATE, to: 3 * RATE },
    { from: 5 * RATE, to: 6 * RATE },
    { from: 9 * RATE, to: 10 * RATE },
  ]);
  assertEquals(cut.samples.length, 4 * RATE);
  assertEquals([cut.samples[0], cut.samples[2 * RATE]], [RATE, 5 * RATE]);
  const times = [0, 1.99, 2, 2.5, 3, 3.5, 4, 4.2];
  assertEquals(times.map((time) => cut.timeOf(time, "start")), [
    ...[1, 2.99, 5, 5.5, 9, 9.5, 10, 10.2],
  ]);
  assertEquals(times.map((time) => cut.timeOf(time, "end")), [
    ...[1, 2.99, 3, 5.5, 6, 9.5, 10, 10.2],
  ]);
  assertEquals(new CutSound(samples, []).samples.length, 0);
});
