// A whole sound to segments of text, window by window, as OpenAI's own program goes through it
// (Radford et al. 2022, section 4.5): a window begins where the last segment ended; one that repeats
// itself or is unlikely is tried again with more chance; one in which probably nobody speaks is left out.

import { deflatedLength } from "../../host/mod.ts";
import type { Tokenizer } from "../../tokenizer/mod.ts";
import { inSlices } from "../async.ts";
import { throwIfCancelled } from "../cancellation.ts";
import { RequestError } from "../errors.ts";
import { LogMel } from "../audio/mod.ts";
import type { Matcher } from "../grammar/mod.ts";
import type { TranscribeEvent, TranscribeRequest, TranscriptSegment } from "../types/mod.ts";
import { decodeWindow, detectLanguage, type WindowTranscript } from "./decode_window.ts";
import { divide } from "./segments.ts";
import type { SpecialTokens } from "./special_tokens.ts";
import type { SpeechNetwork } from "./speech_network.ts";
import { FRAMES_PER_ROW } from "./whisper.ts";
import { CutSound, findVoice } from "./voice.ts";
import { alignWords, type SpokenText } from "./align_words.ts";
import { assignWords } from "./word_times.ts";

/** What runs a transcription. */
export interface SpeechContext {
  readonly network: SpeechNetwork;
  readonly tokenizer: Tokenizer;
  readonly special: SpecialTokens;
  /** Runs work that uses the networks, of which there is one at a time. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/** What is asked of a sound. */
export interface SpeechRequest extends Omit<TranscribeRequest, "audio" | "format"> {
  /** Begins a document of the format that is wanted. */
  readonly matcher?: () => Matcher;
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

/** Frames by which a last word must lie behind a window's beginning for the next window to follow it. */
const LEAST_ADVANCE = 100;

/** Frames of silence that a model hears behind a sound of which a rough transcript will do. */
const ROUGH_SILENCE = 300;

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
  request: SpeechRequest,
): AsyncGenerator<TranscribeEvent, void> {
  const duration = samples.length / 16_000;
  if (request.matcher && samples.length > HOP * context.network.frames) {
    throw new RequestError(
      `Cannot transcribe ${Math.ceil(duration)} seconds in a format: at most ` +
        `${context.network.frames / 100} are possible; cut the sound`,
    );
  }
  yield { type: "start", duration };
  if (!request.vad) return yield* transcribeAll(context, samples, request);
  const cut = new CutSound(samples, await inSlices(findVoice(samples)));
  for await (const event of transcribeAll(context, cut.samples, request)) {
    if (event.type === "done") {
      yield { type: "progress", seconds: Math.floor(duration * 100) / 100 };
    }
    yield moved(event, cut);
  }
}

/** An event of a cut sound as one of the whole sound. */
function moved(event: TranscribeEvent, cut: CutSound): TranscribeEvent {
  if (event.type === "progress") return { ...event, seconds: cut.timeOf(event.seconds, "end") };
  if (event.type !== "segment") return event;
  const times = <T extends { start: number; end: number }>(part: T): T => ({
    ...part,
    start: cut.timeOf(part.start, "start"),
    end: cut.timeOf(part.end, "end"),
  });
  return {
    ...times(event),
    ...event.words && { words: event.words.map(times) },
    seek: Math.round(cut.timeOf(event.seek / 100, "start") * 100),
  };
}

/** Transcribes samples window by window. */
async function* transcribeAll(
  context: SpeechContext,
  samples: Float32Array,
  request: SpeechRequest,
): AsyncGenerator<TranscribeEvent, void> {
  const { network, special, tokenizer, alone } = context;
  const { signal, conditioned = true, prompt = "", rough = false, matcher } = request;
  const timestamps = !matcher && (request.timestamps ?? true);
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
  let spoken: string | undefined = language;
  let before = initial;
  let tokenCount = 0;
  let lastSpoken = 0;
  for (let seek = 0; seek < frames;) {
    throwIfCancelled(signal);
    const size = Math.min(network.frames, frames - seek);
    const rows = rough ? rowsOf(size, network) : network.sizes.rows;
    const values = new Float32Array(network.frames * bins);
    values.set(features.read(seek, size));
    const { found, attempt, parts } = await alone(async () => {
      await network.encode(values, signal, rows);
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
        matcher,
        signal,
      }, request);
      const window = { start, language: request.translate ? "en" : spoken, seek, size, lastSpoken };
      const parts = await partsOf(context, attempt, window, request);
      return { found, attempt, parts };
    });
    if (seek === 0) {
      yield { type: "language", language: spoken!, ...found && { probability: found[1] } };
    }
    tokenCount += attempt.tokens.length;
    const { noSpeech, meanLogprob, temperature, compression } = attempt;
    for (const { tokens, ...segment } of parts.segments) {
      const text = textOf(context, tokens);
      if (segment.start === segment.end || text.trim() === "") continue;
      yield {
        type: "segment",
        ...segment,
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
    lastSpoken = parts.lastSpoken;
    // A model that names a time before the window would never get on.
    seek += Math.max(1, parts.advance);
    yield { type: "progress", seconds: Math.min(seek, frames) / 100 };
  }
  yield { type: "done", tokens: tokenCount };
}

/** Rows that are enough for frames of sound: with less silence behind it, a model makes up words. */
function rowsOf(frames: number, { sizes: { rows } }: SpeechNetwork): number {
  return Math.min(rows, Math.ceil((frames + ROUGH_SILENCE) / FRAMES_PER_ROW));
}

/** A window's transcript in parts. Times are in seconds of the sound. */
interface Parts {
  readonly segments: readonly (Pick<TranscriptSegment, "start" | "end" | "words" | "tokens">)[];
  /** Frames from the window's beginning to that of the next one. */
  readonly advance: number;
  /** When the last word was spoken, if words have times. */
  readonly lastSpoken: number;
}

/** Divides a window's transcript into segments, and into words if they are wanted. */
async function partsOf(
  context: SpeechContext,
  attempt: Attempt,
  { seek, size, lastSpoken, ...window }: Pick<SpokenText, "start" | "language"> & {
    seek: number;
    size: number;
    lastSpoken: number;
  },
  { words = false, rough = false, matcher, signal }: Pick<
    SpeechRequest,
    "words" | "rough" | "matcher" | "signal"
  >,
): Promise<Parts> {
  const isLeftOut = isSilence(attempt) || rough && !isSure(attempt);
  if (!matcher && isLeftOut) return { segments: [], advance: size, lastSpoken };
  const { segments, advance, endsAlone } = divide(attempt.tokens, context.special, size);
  const offset = seek / 100;
  const whole = segments.map(({ start, end, tokens }) => ({
    start: offset + start,
    end: offset + end,
    tokens: [...tokens],
  }));
  if (!words) return { segments: whole, advance, lastSpoken };
  const spoken = whole.map(({ start, end, tokens }) => ({
    start,
    end,
    tokens: tokens.filter((token) => token < context.special.end),
  }));
  const found = await alignWords(context, {
    ...window,
    segments: spoken.map(({ tokens }) => tokens),
    frames: size,
    signal,
  });
  const timed = assignWords(spoken, found, { offset, lastSpoken });
  const last = timed.findLast(({ words }) => words.length > 0);
  const further = Math.round((last?.words.at(-1)?.end ?? 0) * 100) - seek;
  return {
    segments: whole.map((segment, i) => ({ ...segment, ...timed[i] })),
    // What follows the last word is heard again, unless the model says that nothing does.
    advance: matcher || endsAlone || further < LEAST_ADVANCE ? advance : further,
    lastSpoken: last?.end ?? lastSpoken,
  };
}

/** Whether probably nobody speaks. */
function isSilence({ noSpeech, meanLogprob }: WindowTranscript): boolean {
  return noSpeech > NO_SPEECH && meanLogprob < LEAST_LOGPROB;
}

/** Tries temperatures until a transcript is likely and does not repeat itself. */
async function decodeSurely(
  context: SpeechContext,
  window: Omit<Parameters<typeof decodeWindow>[2], "temperature">,
  { temperature = 0, rough = false }: Pick<TranscribeRequest, "temperature" | "rough">,
): Promise<Attempt> {
  // A document in a format repeats its keys, and is not tried again for it.
  const isOnce = temperature > 0 || window.matcher || rough;
  const temperatures = isOnce ? [temperature] : TEMPERATURES;
  let attempt: Attempt | undefined;
  for (const temperature of temperatures) {
    const found = await decodeWindow(context.network, context.special, { ...window, temperature });
    const text = textOf(context, found.tokens);
    const compression = await compressionOf(text.trim());
    attempt = { ...found, temperature, text, compression };
    if (isSure(attempt) || isSilence(found)) break;
  }
  return attempt!;
}

/** Whether a text is likely and does not repeat itself. */
function isSure({ compression, meanLogprob }: Attempt): boolean {
  return compression <= MOST_COMPRESSION && meanLogprob >= LEAST_LOGPROB;
}

/** The words of tokens, without times. */
function textOf({ tokenizer, special }: SpeechContext, tokens: readonly number[]): string {
  return tokenizer.decode(tokens.filter((token) => token < special.end));
}

/** How many times a text becomes smaller by zlib's compression; 0 of no text. */
export async function compressionOf(text: string): Promise<number> {
  const bytes = new TextEncoder().encode(text);
  return bytes.length / await deflatedLength(bytes);
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
