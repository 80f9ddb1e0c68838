// The pieces of a vocabulary by token id, from any kind of file, and GGUF's keys for them.
// readByteLevel and sentencepiece.ts read the files.

import { ConversionError, UnsupportedModelError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import type { Settings } from "./settings.ts";

/** The kinds of pieces, as `tokenizer.ggml.token_type` and SentencePiece number them. */
export const PieceKind = {
  normal: 1,
  unknown: 2,
  control: 3,
  userDefined: 4,
  unused: 5,
  byte: 6,
} as const;

/** A token. */
export interface Piece {
  readonly text: string;
  readonly kind: number;
  /** The score. Pieces with greater scores are joined first. */
  readonly score: number;
}

/** Score of pieces into which no text is joined. */
const NO_SCORE = -1000;
const SPACE_MARK = "\u2581";

/** Pieces that are control tokens, although files do not mark them as special. */
const CONTROL = /^(<\|.*\|>|<｜.*｜>|<unused.*>|<pad>|<mask>|<2mass>|\[@BOS@\])$/;

/** The tokens of a model, as many as its embeddings have rows. */
export class Vocabulary {
  readonly #file: string;
  readonly #pieces: (Piece | undefined)[];
  #ids: Map<string, number> | undefined;

  /** @param file path of the file, for errors @param size number of tokens */
  constructor(file: string, size: number) {
    this.#file = file;
    this.#pieces = new Array(size).fill(undefined);
  }

  /** Sets a token. Errors: ConversionError if the model has no such id. */
  set(id: unknown, piece: Piece): void {
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) >= this.#pieces.length) {
      const state = `its id ${id} is not below the ${this.#pieces.length} rows of the embedding`;
      throw new ConversionError(this.#file, `token ${JSON.stringify(piece.text)}`, state);
    }
    this.#pieces[id as number] = piece;
    this.#ids = undefined;
  }

  /** Sets a token that is searched for as a whole in texts. The unknown token keeps its kind. */
  add(id: number, text: string, isSpecial: boolean): void {
    if (this.#pieces[id]?.kind === PieceKind.unknown) return;
    const isControl = isSpecial || CONTROL.test(text);
    this.set(id, {
      text: isControl ? text : text.replaceAll(SPACE_MARK, " "),
      kind: isControl ? PieceKind.control : PieceKind.userDefined,
      score: NO_SCORE,
    });
  }

  /** The token of a piece. */
  idOf(text: string): number | undefined {
    this.#ids ??= new Map(this.#pieces.map((piece, id) => [piece?.text ?? "", id]));
    return this.#ids.get(text);
  }

  /** Whether there is a token of that id. */
  has(id: number): boolean {
    return this.#pieces[id] !== undefined;
  }

  /** The lists of GGUF. Rows of the embeddings without a token get a name that no text contains. */
  metadata({ scores }: { scores: boolean }): WritableMetadata {
    const pieces = this.#pieces.map((piece, id) =>
      piece ?? { text: `[PAD${id}]`, kind: PieceKind.unused, score: NO_SCORE }
    );
    return {
      "tokenizer.ggml.tokens": pieces.map(({ text }) => text),
      ...(scores && { "tokenizer.ggml.scores": Float32Array.from(pieces, ({ score }) => score) }),
      "tokenizer.ggml.token_type": Int32Array.from(pieces, ({ kind }) => kind),
    };
  }
}

/** Adds the tokens that tokenizer.json and tokenizer_config.json list besides the trained ones. */
export function addListedTokens(
  vocabulary: Vocabulary,
  tokenizer: Settings | undefined,
  config: Settings | undefined,
): void {
  for (const token of tokenizer?.objects("added_tokens") ?? []) {
    vocabulary.add(token.count("id"), token.string("content"), token.boolean("special", false));
  }
  const decoder = config?.object("added_tokens_decoder");
  for (const id of Object.keys(decoder?.members ?? {})) {
    const token = decoder!.object(id)!;
    vocabulary.add(Number(id), token.string("content"), token.boolean("special", false));
  }
}

// The name in GGUF of the pretokenization rule of a tokenizer.json. The expressions are those with
// which the models were published; they are compared, not run.

const raw = String.raw;
const SPACES = raw`\s+(?!\S)|\s+`;
const LINES_AND_SPACES = raw`\s*[\r\n]+|${SPACES}`;
const CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const SIGNS = raw` ?[^\s\p{L}\p{N}]+[\r\n]*`;
const CAPITALS = raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const SMALL = raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const LEAD = raw`[^\r\n\p{L}\p{N}]?`;

const GPT2 = raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|${SPACES}`;
const cl100k = (digits: string) =>
  raw`${CONTRACTION}|${LEAD}\p{L}+|${digits}|${SIGNS}|${LINES_AND_SPACES}`;
const o200k = (digits: string, tail: string) =>
  raw`${LEAD}${CAPITALS}*${SMALL}+${tail}|${LEAD}${CAPITALS}+${SMALL}*${tail}|${digits}|` +
  raw` ?[^\s\p{L}\p{N}]+[\r\n/]*|${LINES_AND_SPACES}`;
const QWEN35 = raw`${CONTRACTION}|${LEAD}[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|` +
  LINES_AND_SPACES;

/** The expressions of each rule, in order. */
const RULES: readonly (readonly [name: string, ...expressions: string[]])[] = [
  ["gpt-2", GPT2],
  ["smollm", raw`\p{N}`, GPT2],
  ["dbrx", cl100k(raw`\p{N}{1,3}`)],
  ["qwen2", cl100k(raw`\p{N}`)],
  ["qwen35", QWEN35],
  ["tekken", o200k(raw`\p{N}`, "")],
  ["gpt-4o", o200k(raw`\p{N}{1,3}`, `${CONTRACTION}?`)],
  ["deepseek-coder", raw`[\r\n]`, raw`\s?\p{L}+`, raw`\s?\p{P}+`, "[一-龥ࠀ-一가-퟿]+", raw`\p{N}`],
];

/**
 * The `tokenizer.ggml.pre` of a byte-level tokenizer.json.
 * @throws UnsupportedModelError quoting the rule if no name is known for it
 */
export function pretokenizerName(tokenizer: Settings): string {
  const expressions = stepsOf(tokenizer.object("pre_tokenizer")).flatMap(expressionsOf);
  const rule = RULES.find(([, ...own]) => own.join("\n") === expressions.join("\n"));
  if (!rule) {
    throw new UnsupportedModelError(
      `Cannot convert "${tokenizer.file}": pre_tokenizer: no rule is known that cuts words by ` +
        (expressions.map((expression) => JSON.stringify(expression)).join(", then ") || "nothing"),
    );
  }
  // Llama 3 has the same rule, but looks up whole words before it joins their bytes.
  const isLlama3 = rule[0] === "dbrx" && tokenizer.object("model")?.boolean("ignore_merges", false);
  return isLlama3 ? "llama-bpe" : rule[0];
}

/** Whether pieces are written in GPT-2's alphabet of bytes. */
export function isByteLevel(tokenizer: Settings): boolean {
  const steps = stepsOf(tokenizer.object("pre_tokenizer"), tokenizer.object("decoder"));
  return steps.some((step) => step.string("type") === "ByteLevel");
}

function stepsOf(...parts: (Settings | undefined)[]): Settings[] {
  return parts.flatMap((part) => {
    if (!part) return [];
    return part.string("type") === "Sequence"
      ? stepsOf(...part.objects("pretokenizers"), ...part.objects("decoders"))
      : [part];
  });
}

/** The expressions of a step, or its description if it has none. */
function expressionsOf(step: Settings): string[] {
  const type = step.string("type");
  if (type === "ByteLevel") return step.boolean("use_regex", true) ? [GPT2] : [];
  if (type === "Digits" && step.boolean("individual_digits", false)) return [raw`\p{N}`];
  const isCut = type === "Split" &&
    (step.string("behavior") === "Isolated" && !step.boolean("invert", false) ||
      step.string("behavior") === "Removed" && step.boolean("invert", false));
  const expression = step.object("pattern")?.string("Regex", "");
  return [isCut && expression ? expression : JSON.stringify(step.members)];
}

// Byte-level BPE from tokenizer.json, as Hugging Face's Tokenizers writes it: pieces in GPT-2's
// alphabet of bytes, and merges in the order in which they are applied.

/**
 * Reads the trained pieces into a vocabulary.
 * @returns the keys for encoding text
 * @throws ConversionError, UnsupportedModelError
 */
export function readByteLevel(tokenizer: Settings, vocabulary: Vocabulary): WritableMetadata {
  const model = tokenizer.object("model")!;
  for (const [text, id] of Object.entries(model.object("vocab")?.members ?? {})) {
    vocabulary.set(id, { text, kind: PieceKind.normal, score: 0 });
  }
  return {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": pretokenizerName(tokenizer),
    "tokenizer.ggml.merges": readMerges(model).map((pair) => pair.join(" ")),
  };
}

/** The merges, in order. In files they are one string or two. */
export function readMerges(model: Settings): [left: string, right: string][] {
  return model.list("merges").map((merge, index) => {
    const pair = typeof merge === "string" ? merge.split(" ") : merge;
    if (
      Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string")
    ) {
      return pair as [string, string];
    }
    throw model.error(`merges[${index}]`, "it is not a pair of pieces");
  });
}
