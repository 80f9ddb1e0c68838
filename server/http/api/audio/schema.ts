// JSON Schemas of the forms of transcriptions and translations: OpenAI's fields, a seed and a format.

import {
  type BodyOf,
  closed,
  flag,
  harmless,
  integer,
  keepAlive,
  number,
  only,
  text,
  texts,
} from "../../body/schema.ts";
import { responseFormat } from "../formats.ts";

const measured = harmless("speech is told by how much louder than its background it is");

const serverVad = closed({
  type: { enum: ["server_vad"], description: "There is this one." },
  threshold: measured,
  prefix_padding_ms: measured,
  silence_duration_ms: measured,
}, "type");

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
    anyOf: [{ enum: ["json", "text", "srt", "verbose_json", "vtt", null] }, responseFormat],
  },
  format: {
    type: ["string", "object", "null"],
    description: '"json", or a JSON Schema: as response_format with an object, in any form.',
  },
  include: only([], "tokens' probabilities are not told; avg_logprob is in verbose_json"),
  stream: {
    ...flag,
    description: "Whether parts of the answer are sent as they are found. Default false.",
  },
  chunking_strategy: {
    anyOf: [{ enum: ["auto", null] }, serverVad],
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
});

export type TranslationBody = BodyOf<typeof translationSchema>;
export type TranscriptionBody = BodyOf<typeof transcriptionSchema>;
