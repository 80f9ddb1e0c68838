// A client that speaks: its events, in OpenAI's realtime form, and the events that tell it when somebody
// began to speak, ended, and what was said. Turns are found by loudness, or the client commits them. What is
// said of a turn before it has ended, live_turn.ts finds.

import type { TranscribeEvent, TranscribeRequest } from "../../../../engine/mod.ts";
import { createValidator } from "../../body/validate.ts";
import { HttpError, sentenceOf, statusOf } from "../../errors.ts";
import { LiveTurn } from "./live_turn.ts";
import {
  type DELAYS,
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
  transcribe(model: string, request: TranscribeRequest): AsyncIterable<TranscribeEvent>;
  /** Whether requests wait, of this session or others. */
  isBusy(): boolean;
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
  delay: Delay;
  turns: TurnDetection | null;
}

type Delay = typeof DELAYS[number];

/** OpenAI's defaults. */
const TURNS: TurnDetection = { threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };

/** Milliseconds of new sound that are waited for until the turn so far is transcribed again. */
const WAITS: Readonly<Record<Delay, number>> = {
  minimal: 500,
  low: 1000,
  medium: 2000,
  high: 4000,
  xhigh: Infinity,
};

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
  /** Where the client commits, it tells only whether somebody speaks. */
  #detector: TurnDetector;
  /** The turn that somebody is speaking, or that is to be committed. */
  #turn: LiveTurn | undefined;
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
      delay: "low",
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
    await this.#turn?.stop();
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

  #newDetector(): TurnDetector {
    return new TurnDetector(this.#settings.turns ?? TURNS, this.#buffer.rate);
  }

  #clear(): void {
    this.#buffer = new SoundBuffer(this.#settings.format);
    this.#detector = this.#newDetector();
    void this.#turn?.stop();
    this.#turn = undefined;
  }

  async #append(audio: unknown): Promise<void> {
    if (typeof audio !== "string") throw new HttpError(400, "audio has to be base64", "audio");
    const bytes = bytesOf(audio);
    const { turns, delay, model } = this.#settings;
    if (!turns) this.#turn ??= this.#beginTurn(this.#buffer.end);
    this.#buffer.add(bytes);
    const marks = this.#detector.push(this.#buffer.samplesOf(bytes));
    if (turns) { for (const mark of marks) await this.#mark(mark); }
    // Before somebody speaks only what may belong to the turn is kept.
    if (turns && !this.#turn) {
      this.#buffer.dropBefore(this.#buffer.end - turns.prefix_padding_ms - 1000);
    }
    if (this.#detector.isSpeaking && model !== "") this.#turn?.listen(this.#buffer, WAITS[delay]);
  }

  async #mark({ kind, at }: TurnMark): Promise<void> {
    if (kind === "start") {
      this.#turn = this.#beginTurn(at);
      this.#buffer.dropBefore(at);
      const told = { audio_start_ms: at, item_id: this.#turn.id };
      return await this.#send("input_audio_buffer.speech_started", told);
    }
    const told = { audio_end_ms: at, item_id: this.#turn?.id };
    await this.#send("input_audio_buffer.speech_stopped", told);
    await this.#commit();
  }

  #beginTurn(first: number): LiveTurn {
    const id = idOf("item");
    return new LiveTurn(id, first, {
      transcribe: ({ audio, before, words, signal }) => {
        const { model, turns } = this.#settings;
        const { prompt = "", ...request } = this.#request(audio);
        return this.#options.transcribe(model, {
          ...request,
          prompt: `${prompt} ${before}`.trim(),
          // What the client has not cut is cut here.
          vad: turns === null,
          rough: true,
          words,
          signal,
        });
      },
      send: (delta) =>
        this.#send(`${TRANSCRIPTION}.delta`, { item_id: id, content_index: 0, delta }),
      isBusy: () => this.#options.isBusy(),
    });
  }

  #request(audio: Uint8Array): TranscribeRequest {
    const { language, prompt } = this.#settings;
    return { audio, ...language && { language }, ...prompt && { prompt } };
  }

  /** Makes an item of the buffer, and has it written down. */
  async #commit(): Promise<void> {
    const { model } = this.#settings;
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
    const request = this.#request(this.#buffer.toWav());
    const turn = this.#turn ?? this.#beginTurn(this.#buffer.end);
    const { id } = turn;
    void turn.stop();
    this.#turn = undefined;
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
    this.#transcribed = this.#transcribed.then(() => this.#transcribe(turn, model, request))
      .catch(() => {}); // The client has gone.
  }

  async #transcribe(turn: LiveTurn, model: string, request: TranscribeRequest): Promise<void> {
    const part = { item_id: turn.id, content_index: 0 };
    await turn.stop();
    try {
      let [transcript, seconds] = ["", 0];
      for await (const event of this.#options.transcribe(model, request)) {
        if (event.type === "start") seconds = event.duration;
        if (event.type !== "segment") continue;
        transcript += transcript === "" ? event.text.trimStart() : event.text;
        await turn.tell(transcript, false);
      }
      await turn.tell(transcript, true);
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
    const { format, model, language, prompt, delay, turns } = this.#settings;
    const [type] = Object.entries(FORMATS).find(([, name]) => name === format)!;
    return {
      ...{ id: this.#id, object: "realtime.transcription_session", type: "transcription" },
      audio: {
        input: {
          format: { type, ...format === "pcm16" && { rate: 24_000 } },
          transcription: { model, language, prompt, delay },
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
  const { model, language, prompt, delay } = transcription ?? {};
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
    ...delay && { delay },
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
