// Forms of the audio paths -> what the engine is asked to transcribe, and its events -> answers in
// OpenAI's forms. Pure.

import {
  languageName,
  type TranscribeEvent,
  type TranscribeRequest,
  type TranscriptSegment,
  type TranscriptWord,
} from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import { readFormat } from "../formats.ts";
import { type Loading, readOptions } from "../options.ts";
import type {
  TranscriptEvent,
  TranscriptionAnswer,
  VerboseAnswer,
  WordAnswer,
} from "./answer_schema.ts";
import type { TranscriptionBody, TranslationBody } from "./schema.ts";
import { subRip, type Subtitle, webVtt } from "./subtitles.ts";

/** What the paths do. */
export type SpeechTask = "transcribe" | "translate";

/** A form, translated. */
export interface SpeechTranslation extends Loading {
  request: Omit<TranscribeRequest, "audio" | "signal">;
  form: AnswerForm;
  isStream: boolean;
  /** The field that asks for a format, if one does. */
  formatMember?: string;
}

/** The forms of answers. */
export type AnswerForm = Extract<TranscriptionBody["response_format"], string>;

/** A whole transcript. */
export interface Transcript {
  task: SpeechTask;
  /** Seconds of sound. */
  duration: number;
  language: string;
  segments: TranscriptSegment[];
}

/**
 * Translates a form.
 *
 * @throws {HttpError} 400 for what cannot be done, with the field at fault
 */
export function translateForm(
  body: TranscriptionBody | TranslationBody,
  task: SpeechTask,
): SpeechTranslation {
  const { prompt, temperature, seed, response_format: wanted, keep_alive: stay, stream } = body;
  const { language, timestamp_granularities: granularities } = body as TranscriptionBody;
  const isForm = typeof wanted === "string";
  const form = isForm ? wanted : "json";
  const asked = readFormat({ format: body.format, ...!isForm && { response_format: wanted } });
  if (typeof temperature === "number" && !(temperature >= 0 && temperature <= 1)) {
    throw new HttpError(400, `temperature ${temperature} is not from 0 to 1`, "temperature");
  }
  for (const granularity of granularities ?? []) {
    if (granularity === "segment" || granularity === "word") continue;
    const state = `${JSON.stringify(granularity)} is not known: ask for segment and word`;
    throw new HttpError(400, `timestamp_granularities: ${state}`, "timestamp_granularities");
  }
  if (granularities?.length && (form === "json" || form === "text")) {
    const state = "goes with response_format verbose_json, srt and vtt alone";
    throw new HttpError(400, `timestamp_granularities ${state}`, "timestamp_granularities");
  }
  return {
    ...readOptions(undefined, stay).loading,
    request: {
      ...(task === "translate" && { translate: true }),
      ...(language && { language }),
      ...(prompt && { prompt }),
      ...(typeof temperature === "number" && { temperature }),
      ...(typeof seed === "number" && { seed }),
      ...(granularities?.includes("word") && { words: true }),
      ...(body.chunking_strategy && { vad: true }),
      ...(asked && { format: asked.format }),
    },
    form,
    isStream: stream ?? false,
    ...(asked && { formatMember: asked.param }),
  };
}

/** Collects the events of a transcription. */
export async function collectTranscript(
  events: AsyncIterable<TranscribeEvent>,
  task: SpeechTask,
): Promise<Transcript> {
  const transcript: Transcript = { task, duration: 0, language: "", segments: [] };
  for await (const event of events) addEvent(transcript, event);
  return transcript;
}

/** Adds an event to a transcript. */
export function addEvent(transcript: Transcript, event: TranscribeEvent): void {
  if (event.type === "start") transcript.duration = event.duration;
  if (event.type === "language") transcript.language = event.language;
  if (event.type === "segment") transcript.segments.push(event);
}

/** The answer as a text and its content type. */
export function answerText(transcript: Transcript, form: AnswerForm): [text: string, type: string] {
  const plain = "text/plain; charset=utf-8";
  const json = (value: TranscriptionAnswer | VerboseAnswer): [string, string] => [
    JSON.stringify(value),
    "application/json; charset=utf-8",
  ];
  switch (form) {
    case "json":
      return json({ text: textOf(transcript), usage: usageOf(transcript) });
    case "verbose_json":
      return json(verbose(transcript));
    case "text":
      return [`${textOf(transcript)}\n`, plain];
    case "srt":
      return [subRip(subtitlesOf(transcript)), plain];
    case "vtt":
      return [webVtt(subtitlesOf(transcript)), "text/vtt; charset=utf-8"];
  }
}

/** The event of a stream that tells of a segment, which is the last one so far. */
export function deltaOf(transcript: Transcript, form: AnswerForm): TranscriptEvent {
  const { duration, segments } = transcript;
  const { text, end } = segments.at(-1)!;
  const isFirst = segments.length === 1;
  const first = subtitlesOf({ segments: segments.slice(0, -1) }).length;
  const part = subtitlesOf({ segments: segments.slice(-1) });
  const delta = form === "srt"
    ? subRip(part, first + 1)
    : form === "vtt"
    ? webVtt(part, isFirst)
    : isFirst
    ? text.trimStart()
    : text;
  return { type: "transcript.text.delta", delta, end, duration };
}

/** The last event of a stream: the whole answer. */
export function doneOf(transcript: Transcript, form: AnswerForm): TranscriptEvent {
  const usage = usageOf(transcript);
  const type = "transcript.text.done";
  if (form === "verbose_json") return { type, ...verbose(transcript) };
  const isSubtitles = form === "srt" || form === "vtt";
  const text = isSubtitles ? answerText(transcript, form)[0] : textOf(transcript);
  return { type, text, usage };
}

/** The words, if they were asked for, or else the segments. */
function subtitlesOf({ segments }: Pick<Transcript, "segments">): Subtitle[] {
  return segments.flatMap((segment): Subtitle[] => segment.words ?? [segment]);
}

function verbose(transcript: Transcript): VerboseAnswer {
  const { task, language, duration, segments } = transcript;
  const words = segments.flatMap(({ words }) => words ?? []);
  return {
    task,
    language: language === "" ? "" : languageName(language),
    duration,
    text: textOf(transcript),
    segments: segments.map((segment, id) => ({
      id,
      seek: segment.seek,
      start: segment.start,
      end: segment.end,
      text: segment.text,
      tokens: segment.tokens,
      temperature: segment.temperature,
      avg_logprob: segment.meanLogprob,
      compression_ratio: segment.compression,
      no_speech_prob: segment.noSpeech,
      ...segment.words && { words: segment.words.map(wordOf) },
    })),
    ...segments.some(({ words }) => words) && { words: words.map(wordOf) },
    usage: usageOf(transcript),
  };
}

function wordOf({ text, start, end, probability }: TranscriptWord): WordAnswer {
  return { word: text.trim(), start, end, probability };
}

function textOf({ segments }: Transcript): string {
  return segments.map(({ text }) => text).join("").trim();
}

function usageOf({ duration }: Transcript): { type: "duration"; seconds: number } {
  return { type: "duration", seconds: Math.ceil(duration) };
}
