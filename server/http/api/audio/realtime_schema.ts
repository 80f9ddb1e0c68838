// JSON Schemas of what clients of the live route ask of a session: OpenAI's realtime transcription, in its
// present form (session.update) and the one before (transcription_session.update).

import { type BodyOf, closed, harmless, integer, number, text } from "../../body/schema.ts";

/** How long text may wait until it is sent. */
export const DELAYS = ["minimal", "low", "medium", "high", "xhigh"] as const;

const transcription = closed({
  model: text,
  language: text,
  prompt: text,
  delay: { enum: [...DELAYS, null] },
});

const responses = harmless("there are no responses, only transcripts");

const detection = {
  anyOf: [
    closed({
      type: { enum: ["server_vad"] },
      threshold: number,
      prefix_padding_ms: integer,
      silence_duration_ms: integer,
      create_response: responses,
      interrupt_response: responses,
    }),
    { type: "null" },
  ],
} as const;

const noise = harmless("the models are used to noise");

const input = closed({
  format: closed({
    type: { enum: ["audio/pcm", "audio/pcmu", "audio/pcma"] },
    rate: { enum: [24_000, null] },
  }),
  noise_reduction: noise,
  transcription,
  turn_detection: detection,
});

/** The session of session.update. */
export const sessionSchema = closed({
  type: { enum: ["transcription", null] },
  audio: closed({ input }),
});

/** The session of transcription_session.update. */
export const earlierSessionSchema = closed({
  input_audio_format: { enum: ["pcm16", "g711_ulaw", "g711_alaw", null] },
  input_audio_noise_reduction: noise,
  input_audio_transcription: transcription,
  turn_detection: detection,
});

export type SessionBody = BodyOf<typeof sessionSchema>;
export type EarlierSessionBody = BodyOf<typeof earlierSessionSchema>;
