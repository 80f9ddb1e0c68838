// A whole sound to segments of text, window by window, as OpenAI's own program goes through it
// (Radford et al. 2022, section 4.5): a window begins where the last segment ended; one that repeats
// itself or is unlikely is tried again with more chance; one in which probably nobody speaks is left out.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import { throwIfCancelled } from "../cancellation.ts";
import { RequestError } from "../errors.ts";
import { LogMel } from "../audio/mod.ts";
import type { TranscribeEvent, TranscribeRequest } from "../types/mod.ts";
import { decodeWindow, detectLanguage, type WindowTranscript } from "./decode_window.ts";
import { divide } from "./segments.ts";
import type { SpecialTokens } from "./special_tokens.ts";
import type { SpeechNetwork } from "./speech_network.ts";

/** What runs a transcription. */
export interface SpeechContext {
  readonly network: SpeechNetwork;
  readonly tokenizer: Tokenizer;
  readonly special: SpecialTokens;
  /** Runs work that uses the networks, of which there is one at a time. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Samples of a frame. */
const HOP = 160;

/** The temperatures that are tried in turn, unless the request says which. */
const TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** By how many times a text may become smaller: more is one that repeats itself. */
const MOST_COMPRESSION = 2.4;

/** Least mean logarithm of the tokens' probabilities. */
const LEAST_LOGPROB = -1;

/** Probability of silence from which on an unlikely text is left out. */
const NO_SPEECH = 0.6;

/** Temperature above which a text is no longer a prompt for what follows. */
const UNSURE = 0.5;

/** The transcript of a window, and how it was found. */
interface Attempt extends WindowTranscript {
  readonly temperature: number;
  readonly text: string;
  readonly compression: number;
}

/** Transcribes samples. Errors: RequestError; those of {@linkcode SpeechNetwork}. */
export async function* transcribe(
  context: SpeechContext,
  samples: Float32Array,
  request: Omit<TranscribeRequest, "audio">,
): AsyncGenerator<TranscribeEvent, void> {
  const { network, special, tokenizer, alone } = context;
  const { signal, timestamps = true, conditioned = true, prompt = "" } = request;
  const language = languageOf(request, special);
  const { bins, context: window } = network.sizes;
  const features = await LogMel.measure(samples, bins, { zeros: HOP, signal });
  const frames = Math.floor(samples.length / HOP);
  const random = randomOf(request.seed);
  const mostBefore = window / 2 - 1;
  const initial = [
    ...tokenizer.encode(prompt === "" ? "" : ` ${prompt.trim()}`, {
      bos: false,
      eos: false,
      special: false,
    }),
  ];
  yield { type: "start", duration: samples.length / 16_000 };
  let spoken: string | undefined = language;
  let before = initial;
  let tokenCount = 0;
  for (let seek = 0; seek < frames;) {
    throwIfCancelled(signal);
    const size = Math.min(network.frames, frames - seek);
    const values = new Float32Array(network.frames * bins);
    values.set(features.read(seek, size));
    const { found, attempt } = await alone(async () => {
      await network.encode(values, signal);
      const found = spoken === undefined && special.languages.size > 0
        ? (await detectLanguage(network, special, signal))[0]
        : undefined;
      spoken ??= found?.[0] ?? "en";
      const start = startOf(request, special, spoken);
      const attempt = await decodeSurely(context, {
        before: before.slice(-mostBefore),
        start,
        hasTimes: timestamps,
        random,
        signal,
      }, request);
      return { found, attempt };
    });
    if (seek === 0) {
      yield { type: "language", language: spoken!, ...found && { probability: found[1] } };
    }
    tokenCount += attempt.tokens.length;
    const { noSpeech, meanLogprob, temperature, compression } = attempt;
    const isSilence = noSpeech > NO_SPEECH && meanLogprob < LEAST_LOGPROB;
    const { segments, advance } = isSilence
      ? { segments: [], advance: size }
      : divide(attempt.tokens, special, size);
    for (const { start, end, tokens } of segments) {
      const text = textOf(context, tokens);
      if (start === end || text.trim() === "") continue;
      const offset = seek / 100;
      yield {
        type: "segment",
        start: offset + start,
        end: offset + end,
        text,
        tokens: [...tokens],
        temperature,
        meanLogprob,
        compression,
        noSpeech,
        seek,
      };
      before = [...before, ...tokens];
    }
    if (!conditioned || temperature > UNSURE) before = [];
    // A model that names a time before the window would never get on.
    seek += Math.max(1, advance);
    yield { type: "progress", seconds: Math.min(seek, frames) / 100 };
  }
  yield { type: "done", tokens: tokenCount };
}

/** Tries temperatures until a transcript is likely and does not repeat itself. */
async function decodeSurely(
  context: SpeechContext,
  window: Omit<Parameters<typeof decodeWindow>[2], "temperature">,
  { temperature }: Pick<TranscribeRequest, "temperature">,
): Promise<Attempt> {
  const temperatures = temperature ? [temperature] : TEMPERATURES;
  let attempt: Attempt | undefined;
  for (const temperature of temperatures) {
    const found = await decodeWindow(context.network, context.special, { ...window, temperature });
    const text = textOf(context, found.tokens);
    const compression = await compressionOf(text);
    attempt = { ...found, temperature, text, compression };
    const isSilence = found.noSpeech > NO_SPEECH && found.meanLogprob < LEAST_LOGPROB;
    const isSure = compression <= MOST_COMPRESSION && found.meanLogprob >= LEAST_LOGPROB;
    if (isSure || isSilence) break;
  }
  return attempt!;
}

/** The words of tokens, without times. */
function textOf({ tokenizer, special }: SpeechContext, tokens: readonly number[]): string {
  return tokenizer.decode(tokens.filter((token) => token < special.end));
}

/** How many times a text becomes smaller by zlib's compression; 0 of no text. */
async function compressionOf(text: string): Promise<number> {
  const bytes = new TextEncoder().encode(text);
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return bytes.length / (await new Response(compressed).arrayBuffer()).byteLength;
}

/** The tokens with which a transcript starts. */
function startOf(
  { translate = false }: Pick<TranscribeRequest, "translate">,
  special: SpecialTokens,
  language: string,
): number[] {
  if (special.languages.size === 0) return [special.start];
  const task = translate ? special.translate : special.transcribe;
  return [special.start, special.languages.get(language)!, task];
}

/** The language that a request names. Errors: RequestError if the model does not know it. */
function languageOf(
  { language, translate = false }: Pick<TranscribeRequest, "language" | "translate">,
  { languages }: SpecialTokens,
): string | undefined {
  if (languages.size === 0) {
    const isEnglish = language === undefined || language === "en";
    if (isEnglish && !translate) return "en";
    const wish = isEnglish ? "translate" : `transcribe "${language}"`;
    throw new RequestError(`Cannot ${wish}: the model knows English alone`);
  }
  if (language === undefined || languages.has(language)) return language;
  throw new RequestError(
    `Cannot transcribe "${language}": the model knows no such language; its languages are ` +
      [...languages.keys()].join(", "),
  );
}

/** Random numbers from 0 to 1, the same ones for the same seed (splitmix32). */
function randomOf(seed = Math.floor(Math.random() * 2 ** 32)): () => number {
  let state = seed | 0;
  return () => {
    state = state + 0x9e3779b9 | 0;
    let value = state ^ state >>> 16;
    value = Math.imul(value, 0x21f0aaad);
    value ^= value >>> 15;
    value = Math.imul(value, 0x735a2d97);
    return ((value ^ value >>> 15) >>> 0) / 2 ** 32;
  };
}
