// How byte-level BPE cuts a text into words, per `tokenizer.ggml.pre`. Merges never cross a word.
// The expressions are those that the models were trained with, in the reading of llama.cpp, whose
// token ids are the reference: a rule with several expressions applies each to what the ones
// before have left, and text between two matches is a word too.

/** A way of cutting text into words. */
export interface Pretokenizer {
  /** Applied in order, each to the parts that the one before made. */
  readonly expressions: readonly RegExp[];
  /** Words that become their own token where there is one, whatever the merges say. */
  readonly wholeWords?: RegExp;
  /** Spaces become U+2581 and characters stay what they are: no byte alphabet. */
  readonly marksSpaces?: boolean;
  /** Whether texts begin with BOS where the metadata does not say. */
  readonly addBos?: boolean;
}

// `\s` of JavaScript has U+FEFF and lacks U+0085; \p{White_Space} is what the models mean by it.
const raw = String.raw;
const s = raw`\p{White_Space}`;
const S = raw`\P{White_Space}`;
const symbols = raw`[^${s}\p{L}\p{N}]+`;
const spaces = raw`${s}+(?!${S})|${s}+`;
const linesAndSpaces = raw`${s}*[\r\n]+|${spaces}`;
const contraction = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]";
const lead = raw`[^\r\n\p{L}\p{N}]?`;
const gpt2Words = raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?${symbols}|${spaces}`;

function rule(...sources: string[]): Pretokenizer {
  return { expressions: sources.map((source) => new RegExp(source, "gv")) };
}

/** The shape of cl100k and its many descendants, which differ in how digits are grouped. */
function cl100k(digits: string): Pretokenizer {
  const punctuation = raw` ?${symbols}[\r\n]*`;
  return rule(raw`${contraction}|${lead}\p{L}+|${digits}|${punctuation}|${linesAndSpaces}`);
}

/** The shape of o200k: a word ends where capitals begin, and takes its contraction along. */
function o200k(digits: string, tail: string): Pretokenizer {
  const notLower = raw`[\p{L}--[a-z]]`;
  const notUpper = raw`[\p{L}--[A-Z]]`;
  const words = raw`${lead}${notLower}*${notUpper}+${tail}|${lead}${notLower}+${notUpper}*${tail}`;
  return rule(raw`${words}|${digits}| ?${symbols}[\r\n\/]*|${linesAndSpaces}`);
}

const anyWord = /(?:)/;

const gpt2 = rule(gpt2Words);
const singleDigits = rule(raw`\p{N}`, gpt2Words);
const qwen2 = cl100k(raw`\p{N}`);
const dbrx = cl100k(raw`\p{N}{1,3}`);
const llama3 = { ...dbrx, wholeWords: anyWord, addBos: true };
const gpt4o = o200k(raw`\p{N}{1,3}`, `(?:${contraction})?`);
const tekken = { ...o200k(raw`\p{N}`, ""), wholeWords: anyWord, addBos: true };
const falcon = rule(raw`[\p{P}$+<=>\^~\|\x60]+`, gpt2Words, "[0-9]{3}");
const general = rule(raw`[\p{P}$+<=>\^~\|]+`, gpt2Words, raw`\p{N}+`, "[0-9]{3}");

// Cased letters of the scripts that DeepSeek's list names: all but Armenian minuscules, Georgian,
// and the blocks that joined Unicode later.
const deepseekLetters = raw`[\p{LC}--[\u0560-\u0588\u10C7-\u10FF\u1C80-\u1C8A\u2D00-\u2D2D` +
  raw`\uA790-\uA7FA\uAB30-\uAB68\u{10570}-\u{105B9}\u{10D50}-\u{10D85}\u{16E40}-\u{16E7F}` +
  raw`\u{1D400}-\u{1DF2A}]]`;
// From ":" to "~" lie the ASCII letters too: that is how the models were trained.
const deepseekPunctuation = raw`[!-\/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3001\u3002]`;
const deepseekAsian = raw`[\u0800-\u9FA5\uAC00-\uD7FF]+`;
const deepseekLlm = rule(
  raw`[\r\n]`,
  raw`${s}?${deepseekLetters}+`,
  raw`${s}?${deepseekPunctuation}+`,
  raw`${s}+$`,
  deepseekAsian,
  raw`\p{N}+`,
);
const deepseekCoder = rule(
  raw`[\r\n]`,
  raw`${s}?\p{L}+`,
  raw`${s}?\p{P}+`,
  deepseekAsian,
  raw`\p{N}`,
);
const deepseekV3 = rule(
  raw`\p{N}{1,3}`,
  raw`[\u4E00-\u9FA5\u3040-\u30FF]+`,
  raw`[!-\/:-@\[-\x60\{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|` +
    raw` ?[\p{P}\p{S}]+[\r\n]*|${linesAndSpaces}`,
);
const qwen35 = rule(
  raw`${contraction}|${lead}[\p{L}\p{M}]+|\p{N}|` +
    raw` ?[^${s}\p{L}\p{M}\p{N}]+[\r\n]*|${linesAndSpaces}`,
);
const kimiK2 = rule(
  raw`\p{sc=Han}+|${lead}[\p{L}--\p{sc=Han}]+(?:${contraction})?|` +
    raw`\p{N}{1,3}| ?${symbols}[\r\n]*|${linesAndSpaces}`,
);
const bloomWords = raw` ?[^\(${s}\|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C\)]+`;
const gemma4 = {
  ...rule(raw`[^\n]+|\n+`),
  wholeWords: /^\n+$/,
  marksSpaces: true,
  addBos: true,
};

/** What each name is cut like. One line per rule, aliases beside each other. */
const rules: readonly (readonly [Pretokenizer, string])[] = [
  [gpt2, "gpt-2 gpt2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum"],
  [gpt2, "modern-bert jina-v1-en jina-v2-code roberta-bpe mpt gpt-neox olmo jais trillion exaone4"],
  [gpt2, "granite-docling"],
  [singleDigits, "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"],
  [qwen2, "qwen2 deepseek-r1-qwen stablelm2 hunyuan solar-open megrez grok-2 kormo f2llmv2"],
  [qwen35, "qwen35"],
  [llama3, "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"],
  [dbrx, "dbrx smaug-bpe glm4 chatglm-bpe"],
  [gpt4o, "gpt-4o llama4 kanana2 talkie minimax-m2"],
  [tekken, "tekken"],
  [falcon, "falcon"],
  [deepseekLlm, "deepseek-llm"],
  [deepseekCoder, "deepseek-coder"],
  [deepseekV3, "deepseek-v3 hunyuan-dense joyai-llm hy_v4"],
  [kimiK2, "kimi-k2"],
  [rule(bloomWords), "bloom poro-chat gpt3-finnish"],
  [rule(bloomWords, raw`\p{N}`), "viking"],
  [gemma4, "gemma4"],
];

const byName = new Map(
  rules.flatMap(([rule, names]) => names.split(" ").map((name) => [name, rule] as const)),
);

/** The rule of a `tokenizer.ggml.pre`; a name that is missing or unknown gets the general one. */
export function pretokenizerOf(name: string | undefined): Pretokenizer {
  return byName.get(name ?? "") ?? general;
}

/** Cuts `text` into words; joined again they are `text`. */
export function splitWords(text: string, pretokenizer: Pretokenizer): string[] {
  let parts = [text];
  for (const expression of pretokenizer.expressions) {
    parts = parts.flatMap((part) => splitPart(part, expression));
  }
  return parts;
}

function splitPart(part: string, expression: RegExp): string[] {
  const words: string[] = [];
  let end = 0;
  for (const match of part.matchAll(expression)) {
    if (match.index > end) words.push(part.slice(end, match.index));
    words.push(match[0]);
    end = match.index + match[0].length;
  }
  if (end < part.length) words.push(part.slice(end));
  return words;
}
