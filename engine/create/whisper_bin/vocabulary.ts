// The vocabulary of a whisper.cpp file as GGUF's metadata. The file has the words alone: the special
// tokens follow in a fixed order, merges follow from the words, whose ids are in the order in which
// they were merged, and which tokens are no speech follows from their signs (OpenAI's tokenizer.py).

import { createTokenizer } from "../../../tokenizer/mod.ts";
import { ConversionError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import { PieceKind } from "../safetensors/mod.ts";

/** The languages in the order of their tokens. Cantonese came with the third large model. */
const LANGUAGES = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur " +
  "hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si " +
  "km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha " +
  "ba jw su yue"
).split(" ");

/** The names behind the languages. */
const AFTER_LANGUAGES = [
  ...["translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"] as const,
];

/** Tokens of time: one for each fiftieth of half a minute, and one for its end. */
const TIMES = 1501;

/** Fewest tokens of a model that knows other languages than English. */
export const LEAST_MULTILINGUAL = 51_865;

/** Signs of which no token is taken, and those whose first byte's token is not taken either. */
const SIGNS = [
  ...'"#()*+/:;<=>@[\\]^_`{|}~「」『』',
  ...["<<", ">>", "<<<", ">>>", "--", "---", "-(", "-[", "('", '("', "((", "))", "(((", ")))"],
  ...["[[", "]]", "{{", "}}", "♪♪", "♪♪♪"],
];
const NOTES = [..."♩♪♫♬♭♮♯"];

/**
 * The vocabulary of a file of this many tokens.
 *
 * @param words the bytes of each word
 * @throws {ConversionError} if there are more or fewer than such models have
 */
export function binVocabulary(
  path: string,
  words: readonly Uint8Array[],
  size: number,
): WritableMetadata {
  const isMultilingual = size >= LEAST_MULTILINGUAL;
  const languages = size - 51_765 - (isMultilingual ? 1 : 0);
  const special = [
    "<|endoftext|>",
    "<|startoftranscript|>",
    ...LANGUAGES.slice(0, Math.max(0, languages)).map((code) => `<|${code}|>`),
    ...AFTER_LANGUAGES.map((name) => `<|${name}|>`),
  ];
  const end = isMultilingual ? 50_257 : 50_256;
  if (size !== end + special.length + TIMES || words.length < end) {
    const state = `${words.length} words and ${size} tokens are none of a Whisper`;
    throw new ConversionError(path, "vocabulary", state);
  }
  const pieces = words.slice(0, end).map(lettersOf);
  const times = Array.from({ length: TIMES }, (_, i) => `<|${(i / 50).toFixed(2)}|>`);
  // A word that is empty is none that a text can have.
  const named = pieces.map((piece, id) => piece === "" ? `[PAD${id}]` : piece);
  const vocabulary = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": [...named, ...special, ...times],
    "tokenizer.ggml.token_type": Int32Array.from(
      { length: size },
      (_, id) =>
        id >= end ? PieceKind.control : pieces[id] === "" ? PieceKind.unused : PieceKind.normal,
    ),
    "tokenizer.ggml.merges": mergesOf(pieces),
    "tokenizer.ggml.bos_token_id": { uint32: end },
    "tokenizer.ggml.eos_token_id": { uint32: end },
    "tokenizer.ggml.add_bos_token": false,
    "tokenizer.ggml.add_eos_token": false,
  };
  const { noSpeech, blank } = suppressedOf(vocabulary);
  const idOf = (name: string) => end + special.indexOf(`<|${name}|>`);
  const commands = ["startoftranscript", ...AFTER_LANGUAGES.slice(0, -1)].map(idOf);
  return {
    "whisper.multilingual": isMultilingual,
    "whisper.suppress_tokens": Uint32Array.from([...noSpeech, ...commands].sort((a, b) => a - b)),
    "whisper.begin_suppress_tokens": Uint32Array.of(blank, end),
    ...vocabulary,
  };
}

/** GPT-2's letter for each byte: itself if it is shown, else one from U+0100 on. */
const LETTERS = (() => {
  const isShown = (byte: number) =>
    byte >= 0x21 && byte <= 0x7e || byte >= 0xa1 && byte <= 0xac || byte >= 0xae;
  let next = 0x100;
  return Array.from(
    { length: 256 },
    (_, byte) => String.fromCodePoint(isShown(byte) ? byte : next++),
  );
})();

function lettersOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => LETTERS[byte]).join("");
}

/** The merges: each word of several bytes is made of two words that were there before. */
function mergesOf(pieces: readonly string[]): string[] {
  const ids = new Map(pieces.map((piece, id) => [piece, id]));
  const merges: string[] = [];
  /** The word that two others are merged into, by both. */
  const merged = new Map<number, number>();
  const keyOf = (left: number, right: number) => left * 2 ** 20 + right;
  for (const [id, piece] of pieces.entries()) {
    const parts = Array.from(piece, (letter) => ids.get(letter) ?? -1);
    if (parts.length < 2 || parts.includes(-1)) continue;
    // The word is merged as far as the words before it go, the earliest merges first.
    while (parts.length > 2) {
      let [best, at] = [id, -1];
      for (let i = 0; i + 1 < parts.length; i++) {
        const joined = merged.get(keyOf(parts[i], parts[i + 1])) ?? id;
        if (joined < best) [best, at] = [joined, i];
      }
      if (at < 0) break;
      parts.splice(at, 2, best);
    }
    if (parts.length > 2) continue;
    const [left, right] = parts;
    merged.set(keyOf(left, right), id);
    merges.push(`${pieces[left]} ${pieces[right]}`);
  }
  return merges;
}

/** The tokens of signs that are not spoken, and that of a space. */
function suppressedOf(vocabulary: Parameters<typeof createTokenizer>[0] | WritableMetadata) {
  const plain = Object.fromEntries(
    Object.entries(vocabulary).map(([key, value]) => [
      key,
      typeof value === "object" && "uint32" in value ? value.uint32 : value,
    ]),
  ) as Parameters<typeof createTokenizer>[0];
  const tokenizer = createTokenizer(plain);
  const encode = (
    text: string,
  ) => [...tokenizer.encode(text, { special: false, bos: false, eos: false })];
  // A hyphen and an apostrophe may stand between words, but not begin one.
  const noSpeech = new Set([encode(" -")[0], encode(" '")[0]]);
  for (const sign of [...SIGNS, ...NOTES]) {
    for (const tokens of [encode(sign), encode(` ${sign}`)]) {
      if (tokens.length === 1 || NOTES.includes(sign)) noSpeech.add(tokens[0]);
    }
  }
  return { noSpeech: [...noSpeech], blank: encode(" ")[0] };
}
