// The real whisper-base against the independent numbers of the shared data: the encoder's rows, languages,
// and every greedy token, with and without times, and translated. It runs where that data exists and
// QUERN_WHISPER names the model's GGUF file, and takes some minutes.

import { assert, assertEquals } from "@std/assert";
import { inSlices } from "../../../engine/async.ts";
import { decodeSound, LogMel } from "../../../engine/audio/mod.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { decodeWindow, detectLanguage } from "../../../engine/speech/decode_window.ts";
import {
  readSpecialTokens,
  type SpecialTokens,
  SpeechNetwork,
  transcribe,
} from "../../../engine/speech/mod.ts";
import { attentionMatrix, warp } from "../../../engine/speech/alignment.ts";
import { wholeOn } from "../../../engine/weights/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { createTokenizer } from "../../../tokenizer/mod.ts";

const shared = new URL("../../../../shared/data/whisper/", import.meta.url);
const path = Deno.env.get("QUERN_WHISPER");
const hasData = path !== undefined && await Deno.stat(shared).then(() => true, () => false);

/** What the manifest has of a window. */
interface Window {
  encoder: { rows_file?: string; file?: string };
  language: string;
  language_probability: number;
  mel_frames?: number;
  without_timestamps: Greedy;
  alignment: { tokens: number[]; num_frames: number; path: [token: number, row: number][] };
  [kind: string]: unknown;
}

/** A segment of the transcript with words. */
interface Segment {
  start: number;
  end: number;
  text: string;
  compression_ratio: number;
  words: [start: number, end: number, text: string, probability: number][];
}

/** Greedy tokens, and what was before them. */
interface Greedy {
  prompt: number[];
  tokens: number[];
  no_speech_prob: number;
}

Deno.test({
  name: "whisper-base computes what the reference does (shared data, QUERN_WHISPER)",
  ignore: !hasData,
  async fn(test) {
    using device = await openDevice({ kind: "cpu" });
    const gguf = await readGguf(path!);
    const network = await SpeechNetwork.load(gguf, wholeOn(device));
    const tokenizer = createTokenizer(gguf.metadata);
    const special = readSpecialTokens(gguf, tokenizer);
    const manifest = JSON.parse(await Deno.readTextFile(new URL("manifest.json", shared)));
    for (const [name, sound] of Object.entries<Record<string, never>>(manifest)) {
      const samples = await decodeSound(await Deno.readFile(new URL(sound.file, shared)));
      for (const kind of ["window_silence", "window_zeros", "window_0"]) {
        const window = sound[kind] as Window | undefined;
        if (!window) continue;
        await test.step(`${name}, ${kind}`, async () => {
          await network.encode(await featuresOf(samples, kind, window));
          const { rows_file: ends, file = ends! } = window.encoder;
          await assertRows(await network.encodedRows(), file);
          const [[language, probability]] = await detectLanguage(network, special);
          assertEquals(language, window.language);
          assert(Math.abs(probability - window.language_probability) < 2e-5, `${probability}`);
          for (const way of ["without_timestamps", "with_timestamps", "translate"]) {
            const expected = window[way] as Greedy | undefined;
            if (!expected) continue;
            const found = await decodeWindow(network, special, {
              before: [],
              start: expected.prompt.slice(0, 3),
              hasTimes: way === "with_timestamps",
              temperature: 0,
              random: () => 0,
            });
            assertEquals(found.tokens, expected.tokens, way);
            assert(Math.abs(found.noSpeech - expected.no_speech_prob) < 2e-5, way);
          }
          await assertAlignment(network, special, window);
        });
      }
      await test.step(`${name}, all of it`, async () => {
        const alone = <T>(work: () => Promise<T>) => work();
        const context = { network, tokenizer, special, alone };
        const events = await Array.fromAsync(transcribe(context, samples, { conditioned: false }));
        const segments = events.filter((event) => event.type === "segment");
        const { segments_without_words: expected } = sound.transcript as {
          segments_without_words: [number, number, number, string][];
        };
        const rounded = segments.map((
          { seek, start, end, text },
        ) => [seek, Math.round(start * 100) / 100, Math.round(end * 100) / 100, text]);
        assertEquals(rounded, expected);
      });
      await test.step(`${name}, its words`, async () => {
        const alone = <T>(work: () => Promise<T>) => work();
        const context = { network, tokenizer, special, alone };
        const request = { conditioned: false, words: true };
        const events = await Array.fromAsync(transcribe(context, samples, request));
        const found = events.filter((event) => event.type === "segment");
        const expected =
          (sound.transcript as { segments_with_words: Segment[] }).segments_with_words;
        assertEquals(found.map(({ text }) => text), expected.map(({ text }) => text));
        found.forEach(({ start, end, compression, words = [] }, i) => {
          // Compressors code the same text with some bytes more or less.
          const text = found.filter(({ seek }) => seek === found[i].seek).map(({ text }) => text);
          const { length } = new TextEncoder().encode(text.join("").trim());
          const bytes = length / compression - length / expected[i].compression_ratio;
          assert(Math.abs(bytes) <= 5, `${compression} is not ${expected[i].compression_ratio}`);
          const times = [start, end, ...words.flatMap(({ start, end }) => [start, end])];
          const others = [expected[i], ...expected[i].words.map(([start, end]) => ({ start, end }))]
            .flatMap(({ start, end }) => [start, end]);
          assertEquals(words.map(({ text }) => text), expected[i].words.map(([, , text]) => text));
          times.forEach((time, at) => {
            assert(Math.abs(time - others[at]) <= 0.06, `${times} is not ${others}`);
          });
          words.forEach(({ probability }, at) => {
            assert(Math.abs(probability - expected[i].words[at][3]) < 0.02, `${probability}`);
          });
        });
      });
    }
  },
});

/** Compares the rows at which tokens begin. */
async function assertAlignment(
  network: SpeechNetwork,
  special: SpecialTokens,
  { alignment, without_timestamps: { prompt } }: Window,
): Promise<void> {
  const { tokens, num_frames: frames, path } = alignment;
  if (tokens.length === 0) return;
  const all = [...prompt, ...tokens, special.end];
  const heads = await network.align(all, () => {});
  const rows = Math.floor(frames / 2);
  const matrix = await inSlices(attentionMatrix(heads, all.length, rows));
  const [first, count] = [prompt.length - 1, tokens.length + 1];
  const own = matrix.subarray(first * rows, (first + count) * rows);
  const found = await inSlices(warp(own, count, rows));
  found.forEach((row, token) => {
    const [, expected] = path.find(([at]) => at === token)!;
    assert(Math.abs(row - expected) <= 2, `${[...found]}`);
  });
}

/** The features of a window in one of the two ways in which programs fill it. */
async function featuresOf(
  samples: Float32Array,
  kind: string,
  { mel_frames: frames = 3000 }: Window,
): Promise<Float32Array> {
  const zeros = kind === "window_0" ? 160 : 480_000 - samples.length;
  const features = await LogMel.measure(samples, 80, { zeros });
  if (kind === "window_silence") return features.read(0, 3000);
  const filled = new Float32Array(3000 * 80);
  filled.set(features.read(0, frames));
  return filled;
}

/** Compares the first and the last eight rows, or all where the file has all. */
async function assertRows(rows: Float32Array, file: string): Promise<void> {
  const { buffer } = await Deno.readFile(new URL(file, shared));
  const expected = new Float32Array(buffer);
  const half = expected.length / 2;
  let [difference, size] = [0, 0];
  expected.forEach((value, i) => {
    const found = rows[i < half ? i : rows.length - expected.length + i];
    difference += (found - value) ** 2;
    size += value ** 2;
  });
  const distance = Math.sqrt(difference / size);
  assert(distance < 1e-4, `${file}: ${distance}`);
}
