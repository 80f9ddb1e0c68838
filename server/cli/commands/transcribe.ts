// `quern transcribe FILE…`: writes down what is said in sound files, as text or as subtitles.

import { basename } from "node:path";
import { type Api, ApiError, connect } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
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
    for (const file of files) {
      const form = new FormData();
      form.set("file", new Blob([await Deno.readFile(file)]), basename(file));
      form.set("model", model);
      form.set("response_format", forms[0] ?? "text");
      const { language, prompt, temperature, keepalive } = options;
      const granularity = options.words ? "word" : undefined;
      const fields = {
        ...{ language, prompt, temperature, keep_alive: keepalive },
        "timestamp_granularities[]": granularity,
      };
      for (const [name, value] of Object.entries(fields)) {
        if (value !== undefined) form.set(name, String(value));
      }
      const path = options.translate ? "/v1/audio/translations" : "/v1/audio/transcriptions";
      const response = await api.fetch(path, { method: "POST", body: form, signal });
      const text = await response.text();
      if (!response.ok) throw new ApiError(response.status, `"${file}": ${faultOf(text)}`);
      terminal.write(forms[0] === "verbose_json" ? `${text}\n` : text);
    }
    return 0;
  });
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
