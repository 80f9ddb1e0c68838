// POST /v1/audio/transcriptions and /v1/audio/translations: a form with a sound, and its transcript, whole
// or segment by segment as server-sent events.

import { type Context, Hono } from "../../../dependencies.ts";
import type { TranscribeEvent } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { BodyBudget } from "../../body/bodies.ts";
import { type FormSchema, readForm, type UploadedFile } from "../../body/form_body.ts";
import { createValidator, type Validator } from "../../body/validate.ts";
import { withoutCrash } from "../../generation/lease.ts";
import { sseResponse } from "../../stream/stream.ts";
import { translateRequest } from "../handler.ts";
import { openAiError, withParam } from "../openai/errors.ts";
import { sentenceOf, statusOf } from "../../errors.ts";
import {
  addEvent,
  type AnswerForm,
  answerText,
  collectTranscript,
  deltaOf,
  doneOf,
  type SpeechTask,
  type Transcript,
  translateForm,
} from "./body.ts";
import {
  type TranscriptionBody,
  transcriptionSchema,
  type TranslationBody,
  translationSchema,
} from "./schema.ts";
import { runTranscription } from "./transcription.ts";

const transcriptionBody = createValidator(transcriptionSchema);
const translationBody = createValidator(translationSchema);

/** The paths whose bodies go to a disk. */
export const SOUND_PATH = /^\/v1\/audio\//;

/** Most bytes of a sound: four hours of two channels in 32 bits at 48 kHz. And of all at a time. */
const [MOST_BYTES, MOST_BYTES_OF_ALL] = [6 * 2 ** 30, 24 * 2 ** 30];

/** Routes that write down what is said. */
export function audioRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  const limits = { maxBytes: MOST_BYTES, disk: new BodyBudget(MOST_BYTES_OF_ALL) };
  const route = <Body extends TranscriptionBody | TranslationBody>(
    schema: FormSchema,
    validator: Validator<Body>,
    task: SpeechTask,
  ) =>
  async (context: Context<AppEnvironment>) => {
    const form = await readForm(context, schema, limits);
    return await keeping(form.file, async (upload) => {
      const checked = await validator.check(form.fields);
      const translate = (body: Body) => translateForm(body, task);
      const found = await translateRequest(context, dependencies, checked, translate);
      return await transcribe(context, dependencies, { ...found, upload, task });
    });
  };
  app.post(
    "/v1/audio/transcriptions",
    route(transcriptionSchema, transcriptionBody, "transcribe"),
  );
  app.post("/v1/audio/translations", route(translationSchema, translationBody, "translate"));
  return app;
}

/** A file that is removed at the end of an answer, unless a stream takes it over. */
interface Upload {
  readonly path: string;
  /** Gives the file to who has to remove it later. */
  take(): UploadedFile;
}

async function keeping<T>(file: UploadedFile, work: (upload: Upload) => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack();
  stack.use(file);
  return await work({
    path: file.path,
    take() {
      stack.move();
      return file;
    },
  });
}

async function transcribe(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  { model, translation, upload, task }: {
    model: string;
    translation: ReturnType<typeof translateForm>;
    upload: Upload;
    task: SpeechTask;
  },
): Promise<Response> {
  const { request, form, isStream, formatMember, ...loading } = translation;
  const left = new AbortController();
  const signal = AbortSignal.any([context.req.raw.signal, left.signal]);
  const begin = () =>
    runTranscription(dependencies, model, { ...loading, signal }, {
      ...request,
      audio: upload.path,
      signal,
    });
  const named = (error: unknown) => {
    throw withParam(error, formatMember === undefined ? {} : { formatMember });
  };
  if (!isStream) {
    const transcript = await withoutCrash(() => collectTranscript(begin(), task)).catch(named);
    const [text, type] = answerText(transcript, form);
    return new Response(text, { headers: { "content-type": type } });
  }
  // A stream begins with the first event, so that what fails before has a status.
  const { events, first } = await withoutCrash(async () => {
    const events = begin();
    return { events, first: await events.next() };
  }).catch(named);
  const file = upload.take();
  return sseResponse({
    events: told(first, events, file, { task, form }),
    cancel: async () => {
      left.abort();
      await file[Symbol.asyncDispose]();
    },
    fail: (error) => ({ data: openAiError(statusOf(error), sentenceOf(error), error) }),
  });
}

/** The events of a stream. At its end the file is removed. */
async function* told(
  first: IteratorResult<TranscribeEvent, void>,
  rest: AsyncGenerator<TranscribeEvent, void>,
  file: UploadedFile,
  { task, form }: { task: SpeechTask; form: AnswerForm },
) {
  await using _file = file;
  const transcript: Transcript = { task, duration: 0, language: "", segments: [] };
  for (let next = first; !next.done; next = await rest.next()) {
    addEvent(transcript, next.value);
    if (next.value.type === "segment") yield { data: deltaOf(transcript, form) };
  }
  yield { data: doneOf(transcript, form) };
}
