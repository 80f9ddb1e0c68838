// JSON Schemas of what the audio paths answer, in OpenAI's form, and the types that follow from them.

import type { BodyOf } from "../../body/schema.ts";
import { count, list, number, record, text } from "../openapi/answer_parts.ts";

const usage = record({
  type: { const: "duration" },
  seconds: { ...count, description: "Seconds of sound, rounded up." },
});

const whole = { ...text, description: "The transcript." } as const;

/** Answer in the form json. */
export const transcriptionAnswerSchema = record({ text: whole, usage });

export type TranscriptionAnswer = BodyOf<typeof transcriptionAnswerSchema>;

const word = record({
  word: { ...text, description: "The word, with the marks beside it." },
  start: { ...number, description: "When it begins, in seconds." },
  end: { ...number, description: "When it ends, in seconds." },
  probability: { ...number, description: "Mean probability of its tokens." },
});

export type WordAnswer = BodyOf<typeof word>;

const words = {
  ...list(word),
  description: 'Words and their times, where timestamp_granularities has "word".',
} as const;

const segment = record({
  id: { ...count, description: "Its number, from 0 on." },
  seek: { ...count, description: "Where its window begins, in hundredths of a second." },
  start: { ...number, description: "When it begins, in seconds." },
  end: { ...number, description: "When it ends, in seconds." },
  text: { ...text, description: "What is said, mostly with a space in front." },
  tokens: { ...list(count), description: "Its tokens, those of times included." },
  temperature: { ...number, description: "The temperature with which it was found." },
  avg_logprob: {
    ...number,
    description: "Mean of the natural logarithms of its window's tokens' probabilities.",
  },
  compression_ratio: {
    ...number,
    description: "By how many times the text of its window becomes smaller by compression.",
  },
  no_speech_prob: { ...number, description: "Probability that nobody speaks in its window." },
}, { words });

const verboseMembers = {
  task: { enum: ["transcribe", "translate"], description: "What was done." },
  language: { ...text, description: "The language that is spoken, by its English name." },
  duration: { ...number, description: "Seconds of sound." },
  text: whole,
  segments: { ...list(segment), description: "The parts of the transcript." },
  usage,
} as const;

/** Answer in the form verbose_json. */
export const verboseAnswerSchema = record(verboseMembers, { words });

export type VerboseAnswer = BodyOf<typeof verboseAnswerSchema>;

/** Events of a stream. */
export const transcriptEventSchema = {
  anyOf: [
    record({
      type: { const: "transcript.text.delta" },
      delta: { ...text, description: "The next segment, in the form that is asked for." },
      end: { ...number, description: "When it ends, in seconds." },
      duration: { ...number, description: "Seconds of sound." },
    }),
    record({ type: { const: "transcript.text.done" }, text: whole, usage }),
    record({ type: { const: "transcript.text.done" }, ...verboseMembers }, { words }),
  ],
} as const;

export type TranscriptEvent = BodyOf<typeof transcriptEventSchema>;
