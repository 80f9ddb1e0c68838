// `quern transcribe FILE…`: writes down what is said in sound files, as text or as subtitles, segment by
// segment. A file is sent while it is read.

import { basename } from "node:path";
import {
  type Api,
  ApiError,
  connect,
  ConnectionError,
  formRequest,
  linesOf,
} from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { movesCursor, type Terminal, truncate } from "../terminal/mod.ts";
import { type Definition, examples, toNumber } from "./definition.ts";

/** Options of the command line. */
interface TranscribeOptions {
  model?: string;
  srt?: boolean;
  vtt?: boolean;
  json?: boolean;
  words?: boolean;
  translate?: boolean;
  language?: string;
  prompt?: string;
  temperature?: number;
  keepalive?: string;
}

/** Adds `quern transcribe`. */
export function defineTranscribe({ program, dependencies, finish }: Definition): void {
  program.command("transcribe")
    .summary("write down what is said in sound files")
    .description(
      "Prints what is said in sound files (WAV, FLAC, MP3, Ogg, WebM), one after the other, with a " +
        "model such as Whisper: as text, or as subtitles with times. The language is found out, unless it is given.",
    )
    .argument("<files...>", "sound files")
    .option("--model <name>", "model that transcribes; left out: the one that is here")
    .option("--srt", "subtitles in SubRip's form")
    .option("--vtt", "subtitles in WebVTT's form")
    .option("--json", "JSON with segments, their times and probabilities, a line for each file")
    .option("--words", "times of words, in JSON or as a subtitle for each")
    .option("--translate", "write English, whatever is spoken")
    .option("--language <code>", 'the language that is spoken, such as "en"')
    .option("--prompt <text>", "text that comes before, for names and spelling")
    .option("--temperature <number>", "how much is left to chance, from 0 to 1", toNumber)
    .option(
      "--keepalive <duration>",
      'how long the model stays in memory: "5m", "0", "-1" for ever',
    )
    .addHelpText(
      "after",
      examples([
        ["quern transcribe talk.wav", "the text"],
        ["quern transcribe talk.mp3 --srt > talk.srt", "subtitles"],
        ["quern transcribe talk.wav --json --words", "with the times of words"],
        ["quern transcribe rede.wav --translate --model whisper", "in English"],
      ]),
    )
    .action(async (files: string[], options: TranscribeOptions) => {
      finish(await transcribe(dependencies, files, options));
    });
}

function transcribe(
  dependencies: CliDependencies,
  files: readonly string[],
  options: TranscribeOptions,
): Promise<number> {
  const { terminal } = dependencies;
  return interruptible(terminal, async (signal) => {
    const forms = [options.srt && "srt", options.vtt && "vtt", options.json && "verbose_json"]
      .filter((form) => form !== undefined && form !== false);
    if (forms.length > 1) {
      throw new Error("Cannot transcribe: --srt, --vtt and --json exclude each other");
    }
    if (options.words && forms.length === 0) {
      throw new Error("Cannot transcribe: --words goes with --json, --srt or --vtt");
    }
    if (options.translate && options.language) {
      throw new Error(
        "Cannot transcribe: --translate finds the language out, so leave out --language",
      );
    }
    await using api = await connect(dependencies);
    const model = options.model ?? await onlyModel(api);
    const form = forms[0] ?? "text";
    const fields = fieldsOf(model, form, options);
    const path = options.translate ? "/v1/audio/translations" : "/v1/audio/transcriptions";
    for (const file of files) {
      using progress = new SoundProgress(dependencies, basename(file));
      const events = sendSound({ api, path, fields, file, progress, signal });
      let isEmpty = true;
      for await (const { type, ...event } of events) {
        const { delta = "", end = 0, duration = 0, text = "" } = event;
        if (type === "transcript.text.delta") {
          progress.heard(end, duration);
          if (form !== "verbose_json") progress.print(delta);
          isEmpty = false;
        } else if (form === "verbose_json") progress.print(`${JSON.stringify(event)}\n`);
        else if (form === "text") progress.print("\n");
        else if (isEmpty) progress.print(text);
      }
    }
    return 0;
  });
}

/** The fields of a form but its file. */
function fieldsOf(
  model: string,
  form: string,
  { language, prompt, temperature, keepalive, words }: TranscribeOptions,
): Record<string, string> {
  const fields = {
    ...{ model, response_format: form, stream: true },
    ...{ language, prompt, temperature, keep_alive: keepalive },
    "timestamp_granularities[]": words ? "word" : undefined,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]]
    ),
  );
}

/** An event of a transcript, as the server sends it. */
interface TranscriptEvent {
  type: "transcript.text.delta" | "transcript.text.done";
  delta?: string;
  end?: number;
  duration?: number;
  text?: string;
  error?: { message: string };
}

/** Sends a sound; the events of its transcript. Errors: ApiError, ConnectionError; those of the file. */
async function* sendSound({ api, path, fields, file, progress, signal }: {
  api: Api;
  path: string;
  fields: Record<string, string>;
  file: string;
  progress: SoundProgress;
  signal: AbortSignal;
}): AsyncGenerator<TranscriptEvent, void> {
  using source = await Deno.open(file);
  const { size } = await source.stat();
  const bytes = progress.sending(source.readable, size);
  const response = await api.fetch(path, {
    ...formRequest(fields, { name: basename(file), bytes }),
    signal,
  });
  if (!response.ok) {
    throw new ApiError(response.status, `"${file}": ${faultOf(await response.text())}`);
  }
  for await (const line of linesOf(response.body!, signal)) {
    const event: TranscriptEvent = JSON.parse(line.replace(/^data: /, ""));
    if (event.error) throw new ApiError(500, `"${file}": ${event.error.message}`);
    yield event;
    if (event.type === "transcript.text.done") return;
  }
  throw new ConnectionError(
    `The transcript of "${file}" is incomplete: the server stopped or the connection was cut; ` +
      "transcribe it again",
  );
}

/**
 * How far a sound is, on a line of standard error if that is a terminal. The line goes away before a
 * transcript is printed on the same terminal, where the text itself shows it.
 */
class SoundProgress implements Disposable {
  readonly #terminal: Terminal;
  readonly #isShown: boolean;
  #drawn = "";

  constructor({ terminal, environment }: CliDependencies, readonly name: string) {
    this.#terminal = terminal;
    this.#isShown = movesCursor(terminal.stderrIsTerminal, environment);
  }

  /** The bytes of a file, while they are sent. */
  async *sending(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
    let sent = 0;
    for await (const piece of bytes) {
      yield piece;
      sent += piece.length;
      this.#draw(`sent ${Math.floor(100 * sent / Math.max(size, sent))}%`);
    }
  }

  /** Tells up to which second a sound is transcribed. */
  heard(seconds: number, duration: number): void {
    const percent = Math.floor(100 * Math.min(1, seconds / duration));
    this.#draw(`${clockOf(seconds)} of ${clockOf(duration)}, ${percent}%`);
  }

  /** Writes a part of the transcript. */
  print(text: string): void {
    if (this.#terminal.stdoutIsTerminal) this.#draw("");
    this.#terminal.write(text);
  }

  [Symbol.dispose](): void {
    this.#draw("");
  }

  #draw(state: string): void {
    if (!this.#isShown || state === this.#drawn) return;
    this.#drawn = state;
    const line = state === ""
      ? ""
      : truncate(`${this.name}: ${state}`, this.#terminal.size().columns - 1);
    this.#terminal.writeError(`\r${line}\x1b[K`);
  }
}

/** Minutes and seconds. */
function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

/** The name of the model that transcribes, if there is one alone. */
async function onlyModel(api: Api): Promise<string> {
  const { models } = await api.json("/api/tags");
  const names = models.filter(({ capabilities }) => capabilities.includes("transcription"))
    .map(({ name }) => name);
  if (names.length === 1) return names[0];
  throw new Error(
    names.length === 0
      ? "Cannot transcribe: there is no model here that transcribes; make one of a folder of Whisper " +
        "with `quern create`, and see the guide on speech"
      : `Cannot transcribe: there are several models for it, so name one with --model: ${
        names.join(", ")
      }`,
  );
}

/** The sentence of an error in OpenAI's form. */
function faultOf(text: string): string {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return text;
  }
}
