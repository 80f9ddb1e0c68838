// The operations that write down what is said.

import { openAiPost } from "../openai/operations.ts";
import { named, type Operation } from "../openapi/operation.ts";
import {
  transcriptEventSchema,
  transcriptionAnswerSchema,
  verboseAnswerSchema,
} from "./answer_schema.ts";
import { transcriptionSchema, translationSchema } from "./schema.ts";

const model = "whisper";
const said = "Good day.";
const usage = { type: "duration", seconds: 2 } as const;

const textAnswer = named("TranscriptText", {
  type: "string",
  description: "The transcript as text, or as subtitles in SubRip's form.",
}, `${said}\n`);

const answerSchema = {
  anyOf: [transcriptionAnswerSchema, verboseAnswerSchema],
} as const;

const answers: Operation["answers"] = {
  "application/json": named("TranscriptionAnswer", answerSchema, { text: said, usage }),
  "text/plain": textAnswer,
  "text/vtt": textAnswer,
  "text/event-stream": named("TranscriptEvent", transcriptEventSchema, {
    type: "transcript.text.delta",
    delta: said,
    end: 1.5,
    duration: 1.75,
  }),
};

/** Transcriptions and translations, in OpenAI's form. */
export const audioOperations: Operation[] = [
  openAiPost({
    id: "createTranscription",
    path: "/v1/audio/transcriptions",
    summary: "Write down what is said in a sound.",
    form: named("TranscriptionForm", transcriptionSchema, { file: "sound.wav", model }),
    answers,
  }),
  openAiPost({
    id: "createTranslation",
    path: "/v1/audio/translations",
    summary: "Write down in English what is said in a sound.",
    form: named("TranslationForm", translationSchema, { file: "sound.wav", model }),
    answers,
  }),
  {
    ...openAiPost({
      id: "openRealtimeSession",
      path: "/v1/realtime",
      summary: "Write down what is said while it is sent, over a WebSocket.",
      parameters: [
        {
          name: "intent",
          in: "query",
          description: "There are sessions for transcription alone.",
          schema: { const: "transcription" },
        },
        {
          name: "model",
          in: "query",
          description: "The model that transcribes, unless session.update names it.",
          schema: { type: "string" },
        },
      ],
      successes: { 101: "The connection is a WebSocket, with the events of OpenAI's sessions." },
      answers: {},
    }),
    method: "get",
    failures: ["model"],
  },
];
