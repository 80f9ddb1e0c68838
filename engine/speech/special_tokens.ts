// The tokens by which a Whisper is told what to do, and by which it tells times. They follow the words
// in a fixed order: the end of a text, the start of a transcript, the languages, the tasks, what was
// said before, silence, no times, and then a token for each fiftieth of a second up to half a minute.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import { type GgufFile, MetadataReader } from "../gguf/mod.ts";

/** Seconds between two tokens of time. */
export const TIME_STEP = 0.02;

/** The special tokens of a model. */
export interface SpecialTokens {
  readonly end: number;
  readonly start: number;
  /** The tokens of languages by their codes, such as "en". Empty for models of English alone. */
  readonly languages: ReadonlyMap<string, number>;
  readonly transcribe: number;
  readonly translate: number;
  /** Comes before the words that were said before. */
  readonly previous: number;
  readonly noSpeech: number;
  readonly noTimes: number;
  /** The time 0:00, which further times follow. */
  readonly firstTime: number;
  /** Never taken. */
  readonly suppressed: readonly number[];
  /** Not taken first. */
  readonly suppressedFirst: readonly number[];
}

/** Names of the tokens in files, older ones too. */
const NAMES = {
  end: ["<|endoftext|>"],
  start: ["<|startoftranscript|>"],
  transcribe: ["<|transcribe|>"],
  translate: ["<|translate|>"],
  previous: ["<|startofprev|>"],
  noSpeech: ["<|nospeech|>", "<|nocaptions|>"],
  noTimes: ["<|notimestamps|>"],
} as const;

/** The special tokens of a file. Errors: UnsupportedModelError naming one that is missing. */
export function readSpecialTokens(gguf: GgufFile, tokenizer: Tokenizer): SpecialTokens {
  const metadata = new MetadataReader(gguf);
  const ids = new Map<string, number>();
  for (let id = 0; id < tokenizer.vocabularySize; id++) {
    const piece = tokenizer.piece(id);
    if (piece?.startsWith("<|")) ids.set(piece, id);
  }
  const idOf = (role: keyof typeof NAMES): number => {
    const id = NAMES[role].map((name) => ids.get(name)).find((id) => id !== undefined);
    if (id !== undefined) return id;
    throw new UnsupportedModelError(
      `Cannot load "${gguf.path}": its vocabulary lacks "${
        NAMES[role][0]
      }", without which speech ` +
        `cannot be transcribed; convert it again`,
    );
  };
  const [start, transcribe, translate] = [idOf("start"), idOf("transcribe"), idOf("translate")];
  const languages = [...ids].filter(([, id]) => id > start && id < Math.min(transcribe, translate));
  const noTimes = idOf("noTimes");
  const tokens = (key: string) => metadata.optionalNumbers(`whisper.${key}`, []);
  return {
    end: idOf("end"),
    start,
    // Models of English alone have the tokens, but were not trained with them.
    languages: new Map(
      metadata.optionalBoolean("whisper.multilingual", true)
        ? languages.map(([name, id]) => [name.slice(2, -2), id])
        : [],
    ),
    transcribe,
    translate,
    previous: idOf("previous"),
    noSpeech: idOf("noSpeech"),
    noTimes,
    firstTime: noTimes + 1,
    suppressed: [...tokens("suppress_tokens")],
    suppressedFirst: [...tokens("begin_suppress_tokens")],
  };
}

/** A name of a language, for people, by its code; the code itself where it has none. */
export function languageName(code: string): string {
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  return (names.of(code === "jw" ? "jv" : code) ?? code).toLowerCase();
}
