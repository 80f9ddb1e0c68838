// JSON Schemas of the forms of transcriptions and translations: OpenAI's fields, and a seed.

import {
  type BodyOf,
  closed,
  flag,
  harmless,
  integer,
  keepAlive,
  number,
  text,
  texts,
} from "../../body/schema.ts";

const common = {
  file: {
    ...text,
    description: "The sound: a file in WAV, FLAC, MP3, Ogg or WebM, of at most four hours.",
  },
  model: text,
  prompt: {
    ...text,
    description: "Text that comes before, in whose style and spelling the transcript goes on.",
  },
  response_format: {
    enum: ["json", "text", "srt", "verbose_json", "vtt", null],
    description: "The form of the answer. srt and vtt are subtitles; verbose_json has segments " +
      "with their times. Default: json.",
  },
  temperature: {
    ...number,
    description:
      "From 0 to 1. Default and 0: nothing is left to chance unless a text is unlikely " +
      "or repeats itself.",
  },
  seed: integer,
  keep_alive: keepAlive,
} as const;

/** The form of POST /v1/audio/translations. */
export const translationSchema = closed(common);

/** The form of POST /v1/audio/transcriptions. */
export const transcriptionSchema = closed({
  ...common,
  language: {
    ...text,
    description:
      'The language that is spoken, by its code, such as "en". Default: the model finds out.',
  },
  timestamp_granularities: {
    ...texts,
    description: 'What has times: "segment", and "word" in verbose_json, srt and vtt. ' +
      "Segments have times in any case.",
  },
  stream: { ...flag, description: "Whether segments are sent as they are found. Default false." },
  chunking_strategy: harmless("sounds of any length are transcribed window by window"),
});

export type TranslationBody = BodyOf<typeof translationSchema>;
export type TranscriptionBody = BodyOf<typeof transcriptionSchema>;
