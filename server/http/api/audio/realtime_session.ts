// A client that speaks: its events, in OpenAI's realtime form, and the events that tell it when somebody
// began to speak, ended, and what was said. Turns are found by loudness, or the client commits them.

import type { TranscribeEvent } from "../../../../engine/mod.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError, sentenceOf, statusOf } from "../../errors.ts";
import {
  type EarlierSessionBody,
  earlierSessionSchema,
  type SessionBody,
  sessionSchema,
} from "./realtime_schema.ts";
import { type InputFormat, SoundBuffer } from "./sound_buffer.ts";
import { type TurnDetection, TurnDetector, type TurnMark } from "./turns.ts";

/** What is said to whom. */
export interface SessionOptions {
  /** The model, if the address of the session names one. */
  readonly model?: string | undefined;
  send(event: object): Promise<void>;
  /** The events of a transcription of a WAV file. */
  transcribe(model: string, request: {
    audio: Uint8Array;
    language?: string;
    prompt?: string;
  }): AsyncIterable<TranscribeEvent>;
  /** Errors: where there is no such model. */
  check(model: string): Promise<unknown>;
}

/** An event of a client. */
type ClientEvent = Record<string, unknown> & { type?: unknown };

/** What a session does, as far as a client has said. */
interface Settings {
  format: InputFormat;
  model: string;
  language: string;
  prompt: string;
  turns: TurnDetection | null;
}

/** OpenAI's defaults. */
const TURNS: TurnDetection = { threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };

/** Least sound that is committed, in milliseconds. */
const LEAST_COMMIT = 100;

const FORMATS = {
  "audio/pcm": "pcm16",
  "audio/pcmu": "g711_ulaw",
  "audio/pcma": "g711_alaw",
} as const;

const present = createValidator(sessionSchema);
const earlier = createValidator(earlierSessionSchema);

/** One session. */
export class RealtimeSession {
  readonly #options: SessionOptions;
  readonly #id = idOf("sess");
  #settings: Settings;
  #buffer: SoundBuffer;
  #detector: TurnDetector | undefined;
  /** The item of the turn that somebody is speaking. */
  #speaking: string | undefined;
  #previous: string | null = null;
  /** Transcriptions come in the order of their turns. */
  #transcribed: Promise<unknown> = Promise.resolve();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#settings = {
      format: "pcm16",
      model: options.model ?? "",
      language: "",
      prompt: "",
      turns: TURNS,
    };
    this.#buffer = new SoundBuffer("pcm16");
    this.#detector = new TurnDetector(TURNS, this.#buffer.rate);
  }

  /** Tells that the session has begun. */
  async begin(): Promise<void> {
    await this.#send("session.created", { session: this.#described() });
  }

  /** Takes an event of the client. What is wrong with it is told, and the session goes on. */
  async take(text: string): Promise<void> {
    let event: ClientEvent = {};
    try {
      event = readEvent(text);
      await this.#take(event);
    } catch (error) {
      await this.#send("error", { error: { ...errorOf(error), event_id: event.event_id ?? null } });
    }
  }

  /** Settles when all that was committed is written down. */
  async end(): Promise<void> {
    await this.#transcribed;
  }

  async #take(event: ClientEvent): Promise<void> {
    switch (event.type) {
      case "session.update":
        return await this.#update(await settingsOf(event.session), "session.updated");
      case "transcription_session.update": {
        const change = await earlierSettingsOf(event.session);
        return await this.#update(change, "transcription_session.updated");
      }
      case "input_audio_buffer.append":
        return await this.#append(event.audio);
      case "input_audio_buffer.commit":
        return await this.#commit();
      case "input_audio_buffer.clear":
        this.#clear();
        return await this.#send("input_audio_buffer.cleared", {});
    }
    throw new HttpError(
      400,
      `events of type ${
        JSON.stringify(event.type)
      } are not known in a transcription session: there are ` +
        "session.update, transcription_session.update, and input_audio_buffer.append, .commit and .clear",
      "type",
    );
  }

  async #update(change: Partial<Settings>, told: string): Promise<void> {
    if (change.model) await this.#options.check(change.model);
    const before = this.#settings;
    this.#settings = { ...before, ...change };
    const { format, turns } = this.#settings;
    if (format !== before.format) this.#clear();
    else if (turns !== before.turns) this.#detector = this.#newDetector();
    await this.#send(told, { session: this.#described() });
  }

  #newDetector(): TurnDetector | undefined {
    const { turns } = this.#settings;
    return turns ? new TurnDetector(turns, this.#buffer.rate) : undefined;
  }

  #clear(): void {
    this.#buffer = new SoundBuffer(this.#settings.format);
    this.#detector = this.#newDetector();
    this.#speaking = undefined;
  }

  async #append(audio: unknown): Promise<void> {
    if (typeof audio !== "string") throw new HttpError(400, "audio has to be base64", "audio");
    const bytes = bytesOf(audio);
    this.#buffer.add(bytes);
    for (const mark of this.#detector?.push(this.#buffer.samplesOf(bytes)) ?? []) {
      await this.#mark(mark);
    }
    // Before somebody speaks only what may belong to the turn is kept.
    const { turns } = this.#settings;
    if (turns && !this.#speaking) {
      this.#buffer.dropBefore(this.#buffer.end - turns.prefix_padding_ms - 1000);
    }
  }

  async #mark({ kind, at }: TurnMark): Promise<void> {
    if (kind === "start") {
      this.#speaking = idOf("item");
      this.#buffer.dropBefore(at);
      const told = { audio_start_ms: at, item_id: this.#speaking };
      return await this.#send("input_audio_buffer.speech_started", told);
    }
    const told = { audio_end_ms: at, item_id: this.#speaking };
    await this.#send("input_audio_buffer.speech_stopped", told);
    await this.#commit();
  }

  /** Makes an item of the buffer, and has it written down. */
  async #commit(): Promise<void> {
    const { model, language, prompt } = this.#settings;
    if (this.#buffer.duration < LEAST_COMMIT) {
      throw new HttpError(
        400,
        `the input audio buffer has ${this.#buffer.duration} ms of sound, and at least ${LEAST_COMMIT} ms ` +
          "are needed to commit it",
      );
    }
    if (model === "") {
      throw new HttpError(
        400,
        "the session has no model: name one in session.audio.input.transcription.model",
        "session.audio.input.transcription.model",
      );
    }
    const audio = this.#buffer.toWav();
    const id = this.#speaking ?? idOf("item");
    this.#speaking = undefined;
    this.#buffer.dropBefore(Infinity);
    await this.#send("input_audio_buffer.committed", {
      previous_item_id: this.#previous,
      item_id: id,
    });
    const item = {
      ...{ id, object: "realtime.item", type: "message", status: "completed", role: "user" },
      content: [{ type: "input_audio", transcript: null }],
    };
    await this.#send("conversation.item.added", { previous_item_id: this.#previous, item });
    await this.#send("conversation.item.done", { previous_item_id: this.#previous, item });
    this.#previous = id;
    const request = { audio, ...language && { language }, ...prompt && { prompt } };
    this.#transcribed = this.#transcribed.then(() => this.#transcribe(id, model, request))
      .catch(() => {}); // The client has gone.
  }

  async #transcribe(
    id: string,
    model: string,
    request: Parameters<SessionOptions["transcribe"]>[1],
  ): Promise<void> {
    const part = { item_id: id, content_index: 0 };
    try {
      let [transcript, seconds] = ["", 0];
      for await (const event of this.#options.transcribe(model, request)) {
        if (event.type === "start") seconds = event.duration;
        if (event.type !== "segment") continue;
        const delta = transcript === "" ? event.text.trimStart() : event.text;
        transcript += delta;
        await this.#send(`${TRANSCRIPTION}.delta`, { ...part, delta });
      }
      const usage = { type: "duration", seconds };
      await this.#send(`${TRANSCRIPTION}.completed`, { ...part, transcript, usage });
    } catch (error) {
      await this.#send(`${TRANSCRIPTION}.failed`, { ...part, error: errorOf(error) });
    }
  }

  async #send(type: string, members: object): Promise<void> {
    await this.#options.send({ type, event_id: idOf("event"), ...members });
  }

  /** The session in OpenAI's present form. */
  #described(): object {
    const { format, model, language, prompt, turns } = this.#settings;
    const [type] = Object.entries(FORMATS).find(([, name]) => name === format)!;
    return {
      ...{ id: this.#id, object: "realtime.transcription_session", type: "transcription" },
      audio: {
        input: {
          format: { type, ...format === "pcm16" && { rate: 24_000 } },
          transcription: { model, language, prompt },
          noise_reduction: null,
          turn_detection: turns && { type: "server_vad", ...turns },
        },
      },
    };
  }
}

const TRANSCRIPTION = "conversation.item.input_audio_transcription";

/** Reads an event. Errors: HttpError 400. */
function readEvent(text: string): ClientEvent {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, `the event is no JSON: ${(error as Error).message}`);
  }
  if (typeof event === "object" && event !== null) return event as ClientEvent;
  throw new HttpError(400, "the event has to be an object");
}

async function settingsOf(session: unknown): Promise<Partial<Settings>> {
  const { audio }: SessionBody = await present(session);
  const { format, transcription, turn_detection } = audio?.input ?? {};
  return {
    ...format?.type && { format: FORMATS[format.type] },
    ...changesOf(transcription, turn_detection),
  };
}

async function earlierSettingsOf(session: unknown): Promise<Partial<Settings>> {
  const body: EarlierSessionBody = await earlier(session);
  const { input_audio_format: format, input_audio_transcription: transcription, turn_detection } =
    body;
  return { ...format && { format }, ...changesOf(transcription, turn_detection) };
}

/** What is not named stays as it is; turns that are null are committed by the client. */
function changesOf(
  transcription: EarlierSessionBody["input_audio_transcription"],
  detection: EarlierSessionBody["turn_detection"],
): Partial<Settings> {
  const { model, language, prompt } = transcription ?? {};
  const { threshold, prefix_padding_ms: before, silence_duration_ms: silence } = detection ?? {};
  const turns = {
    threshold: threshold ?? TURNS.threshold,
    prefix_padding_ms: before ?? TURNS.prefix_padding_ms,
    silence_duration_ms: silence ?? TURNS.silence_duration_ms,
  };
  checkTurns(turns);
  return {
    ...typeof model === "string" && { model },
    ...typeof language === "string" && { language },
    ...typeof prompt === "string" && { prompt },
    ...detection !== undefined && { turns: detection && turns },
  };
}

/** Errors: HttpError 400 for what is out of range. */
function checkTurns(turns: TurnDetection): void {
  const most = { threshold: 1, prefix_padding_ms: 10_000, silence_duration_ms: 60_000 };
  for (const [name, limit] of Object.entries(most) as [keyof TurnDetection, number][]) {
    if (turns[name] >= 0 && turns[name] <= limit) continue;
    throw new HttpError(400, `turn_detection.${name} is not from 0 to ${limit}`, name);
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    throw new HttpError(400, "audio has to be base64", "audio");
  }
}

function errorOf(error: unknown): object {
  const status = statusOf(error);
  return {
    type: status < 500 ? "invalid_request_error" : "server_error",
    code: null,
    message: sentenceOf(error),
    param: error instanceof HttpError ? error.param ?? null : null,
  };
}

function idOf(kind: string): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "")}`;
}
