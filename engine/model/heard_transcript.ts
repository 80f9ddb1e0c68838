// Transcripts by a text model that hears: a sound is cut where it is quiet into pieces of at most half a
// minute, and the model is asked to write down each. Segments are these pieces; it knows no finer times, and
// not how likely it is that nobody speaks.

import { decodeSound } from "../audio/mod.ts";
import { chatWithMedia, type MediaContext } from "./media_requests.ts";
import { RequestError } from "../errors.ts";
import { compressionOf, languageName } from "../speech/mod.ts";
import type { ChatRequest, TranscribeEvent, TranscribeRequest } from "../types/mod.ts";

const RATE = 16_000;

/** Longest piece in seconds, and the seconds at its end in which a quiet place is looked for. */
const [LONGEST, SEARCHED] = [30, 6];

/** Samples of which it is found out how loud they are. */
const BLOCK = RATE / 10;

/** Most tokens of a piece: what is said in half a minute has some 150. */
const MOST_TOKENS = 600;

/** The events of a transcription. Errors: those of chat(), AudioError, RequestError; the signal's reason. */
export async function* transcribeByChat(
  context: MediaContext,
  request: TranscribeRequest,
): AsyncGenerator<TranscribeEvent> {
  const { audio, signal, language, temperature = 0, seed, format } = request;
  if (request.words && !request.rough) {
    throw new RequestError(
      "Cannot tell the times of words: this model hears, but knows no times; use one that has the " +
        "capability transcription",
    );
  }
  const samples = audio instanceof Float32Array ? audio : await decodeSound(audio, { signal });
  const duration = samples.length / RATE;
  if (format !== undefined && duration > LONGEST) {
    throw new RequestError(
      `Cannot transcribe ${Math.ceil(duration)} seconds in a format: at most ${LONGEST} are ` +
        "possible; cut the sound",
    );
  }
  yield { type: "start", duration };
  if (language !== undefined) yield { type: "language", language };
  let tokens = 0;
  for (const { first, end } of pieces(samples)) {
    const messages: ChatRequest["messages"] = [{
      role: "user",
      content: instructionOf(request),
      audio: [wavOf(samples.subarray(first, end))],
    }];
    let text = "";
    const logprobs: number[] = [];
    const answer = chatWithMedia(context, {
      messages,
      temperature,
      maxTokens: MOST_TOKENS,
      think: false,
      logprobs: 0,
      ...seed !== undefined && { seed },
      ...format !== undefined && { format },
      ...signal && { signal },
    });
    for await (const event of answer) {
      if (event.type === "text") {
        text += event.text;
        logprobs.push(...event.logprobs?.map(({ logprob }) => logprob) ?? []);
      } else if (event.type === "done") tokens += event.usage.completionTokens;
    }
    signal?.throwIfAborted();
    yield {
      type: "segment",
      start: first / RATE,
      end: end / RATE,
      text: ` ${text.trim()}`,
      tokens: [],
      temperature,
      meanLogprob: logprobs.reduce((sum, value) => sum + value, 0) / Math.max(1, logprobs.length),
      compression: await compressionOf(text),
      noSpeech: 0,
      seek: Math.round(100 * first / RATE),
    };
    yield { type: "progress", seconds: end / RATE };
  }
  yield { type: "done", tokens };
}

/** What the model is asked. */
function instructionOf({ language, translate = false, prompt }: TranscribeRequest): string {
  const spoken = language === undefined
    ? "in the language that is spoken"
    : `which is in ${languageName(language)}`;
  const task = translate
    ? "Translate what is said in this sound into English."
    : `Write down word for word what is said in this sound, ${spoken}.`;
  const before = prompt ? ` Spell as this text does: ${prompt}` : "";
  return `${task} Answer with that alone.${before}`;
}

/** Pieces of a sound, which end where it is quiet. */
function pieces(samples: Float32Array): { first: number; end: number }[] {
  const all: { first: number; end: number }[] = [];
  let first = 0;
  while (samples.length - first > LONGEST * RATE) {
    const end = quietest(samples, first + (LONGEST - SEARCHED) * RATE, first + LONGEST * RATE);
    all.push({ first, end });
    first = end;
  }
  return [...all, { first, end: samples.length }];
}

/** The middle of the quietest tenth of a second between two places. */
function quietest(samples: Float32Array, first: number, end: number): number {
  let [best, least] = [end, Infinity];
  for (let at = first; at + BLOCK <= end; at += BLOCK) {
    let power = 0;
    for (let i = at; i < at + BLOCK; i++) power += samples[i] ** 2;
    if (power < least) [best, least] = [at + BLOCK / 2, power];
  }
  return best;
}

/** A WAV file of samples, as floats of 32 bits. */
function wavOf(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = 4 * samples.length;
  const file = new Uint8Array(44 + bytes);
  const view = new DataView(file.buffer);
  const put = (at: number, text: string) =>
    [...text].forEach((letter, i) => file[at + i] = letter.charCodeAt(0));
  put(0, "RIFF");
  view.setUint32(4, 36 + bytes, true);
  put(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 3, true); // floats
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, 4 * RATE, true);
  view.setUint16(32, 4, true);
  view.setUint16(34, 32, true);
  put(36, "data");
  view.setUint32(40, bytes, true);
  samples.forEach((sample, i) => view.setFloat32(44 + 4 * i, sample, true));
  return file;
}
