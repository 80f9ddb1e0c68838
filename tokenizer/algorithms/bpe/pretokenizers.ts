// The pretokenization rules of byte pair encoding, one for each `tokenizer.ggml.pre`. The
// expressions are those with which the models were trained, as llama.cpp implements them, because
// its token ids are the reference: where it does not distinguish upper and lower case, neither does
// this.

// JavaScript's `\s` contains U+FEFF and lacks U+0085. The models mean \p{White_Space}.
const raw = String.raw;
const s = raw`\p{White_Space}`;
const S = raw`\P{White_Space}`;
const symbols = raw`[^${s}\p{L}\p{N}]+`;
const spaces = raw`${s}+(?!${S})|${s}+`;
const linesAndSpaces = raw`${s}*[\r\n]+|${spaces}`;
const contraction = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]";
const lead = raw`[^\r\n\p{L}\p{N}]?`;
const punctuation = raw` ?${symbols}[\r\n]*`;
const one = raw`\p{N}`;
const upToThree = raw`\p{N}{1,3}`;
const gpt2Words = raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?${symbols}|${spaces}`;
const qwen2Words = raw`${contraction}|${lead}\p{L}+|${one}|${punctuation}|${linesAndSpaces}`;

function rule(...cutters: (string | Cutter)[]): Pretokenizer {
  return {
    cutters: cutters.map((cutter) => typeof cutter === "string" ? matches(cutter) : cutter),
  };
}

/** The rule of cl100k and its many descendants, which differ in how digits are grouped. */
function cl100k(digits: string, tail = linesAndSpaces): Pretokenizer {
  return rule(raw`${contraction}|${lead}\p{L}+|${digits}|${punctuation}|${tail}`);
}

/** The rule of o200k: a word ends before a capital letter, and includes its contraction. */
function o200k(digits: string, tail: string, letters = raw`\p{L}`): Pretokenizer {
  const notLower = raw`[[${letters}]--[a-z]]`;
  const notUpper = raw`[[${letters}]--[A-Z]]`;
  const words = raw`${lead}${notLower}*${notUpper}+${tail}|${lead}${notLower}+${notUpper}*${tail}`;
  return rule(raw`${words}|${digits}| ?${symbols}[\r\n\/]*|${linesAndSpaces}`);
}

/** The rule of o200k without regard to capital letters. */
function caseless(digits: string): string {
  const words = raw`${lead}[\p{L}\p{M}]+(?:${contraction})?`;
  return raw`${words}|${digits}| ?${symbols}[\r\n\/]*|${linesAndSpaces}`;
}

/**
 * The rule of DeepSeek V3 for what follows digits and East Asian text: a punctuation mark may begin
 * a word.
 */
function deepseekWords(tail: string): string {
  return raw`[!-\/:-@\[-\x60\{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|${tail}`;
}

const deepseekTail = raw` ?[\p{P}\p{S}]+[\r\n]*|${linesAndSpaces}`;
const hanAndKana = raw`[\u4E00-\u9FA5\u3040-\u30FF]+`;

function deepseekLlm(): Pretokenizer {
  // Cased letters of the scripts in DeepSeek's list, which lacks Armenian minuscules, Georgian, and
  // blocks that were added to Unicode later.
  const letters = raw`[\p{LC}--[\u0560-\u0588\u10C7-\u10FF\u1C80-\u1C8A\u2D00-\u2D2D` +
    raw`\uA790-\uA7FA\uAB30-\uAB68\u{10570}-\u{105B9}\u{10D50}-\u{10D85}\u{16E40}-\u{16E7F}` +
    raw`\u{1D400}-\u{1DF2A}]]`;
  // The range from ":" to "~" contains the ASCII letters, too, and so do the models' rules.
  const signs = raw`[!-\/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3001\u3002]`;
  return rule(
    raw`[\r\n]`,
    raw`${s}?${letters}+`,
    raw`${s}?${signs}+`,
    // The lookbehind changes no match, but with it a long run of spaces is tried once instead of at
    // each space.
    raw`(?<!${s})${s}+$`,
    raw`[\u0800-\u9FA5\uAC00-\uD7FF]+`,
    raw`\p{N}+`,
  );
}

function deepseekCoder(): Pretokenizer {
  return rule(
    raw`[\r\n]`,
    raw`${s}?\p{L}+`,
    raw`${s}?\p{P}+`,
    raw`[\u0800-\u9FA5\uAC00-\uD7FF]+`,
    one,
  );
}

function kimiK2(): Pretokenizer {
  const words = raw`${lead}[\p{L}--\p{sc=Han}]+(?:${contraction})?`;
  return rule(raw`\p{sc=Han}+|${words}|${upToThree}|${punctuation}|${linesAndSpaces}`);
}

function qwen35(): Pretokenizer {
  const letters = raw`${lead}[\p{L}\p{M}]+`;
  const signs = raw` ?[^${s}\p{L}\p{M}\p{N}]+[\r\n]*`;
  return rule(raw`${contraction}|${letters}|${one}|${signs}|${linesAndSpaces}`);
}

function jais2(): Pretokenizer {
  const runs = [512, 256, 128, 64, 32, 16, 8, 4, "1,2"].map((run) => raw`${s}{${run}}(?!${S})`);
  return cl100k(upToThree, raw`${s}*[\r\n]+|${runs.join("|")}|${s}`);
}

function exaoneMoe(): Pretokenizer {
  const words = raw`${lead}(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+`;
  const signs = raw` ?${symbols}[\r\n\/]?`;
  return rule(raw`${contraction}|${words}|${one}|${signs}|${s}*[\r\n]|${spaces}`);
}

function chameleon(): Pretokenizer {
  return {
    ...rule(
      raw`<sentinel:[0-9]+>`,
      raw`IMGIMG[A-I]{1,4}Z`,
      raw`[\t\n]|    |  `,
      one,
      raw`[\p{P}!-\/:-@\[-\x60\{-~]`,
      gpt2Words,
    ),
    addBos: true,
  };
}

function youtu(): Pretokenizer {
  const eastAsian = raw`[\uAC00-\uD7A3\u3131-\u318E]+|` +
    raw`[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+|` +
    raw`[\u3105-\u312F]+|${hanAndKana}`;
  return { ...rule(eastAsian, caseless(one)), wholeWords: anyWord };
}

function afmoe(): Pretokenizer {
  const asian =
    raw`[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u3040-\u30FF\uFF65-\uFF9F\u2F00-\u2FDF` +
    raw`\u0E40-\u0EFF\u1780-\u17FF\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF\uAC00-\uD7AF` +
    raw`\u1100-\u11FF]+`;
  return rule(threes(raw`\p{N}+`), asian, deepseekWords(deepseekTail));
}

const anyWord = /(?:)/;
const bloomWords = raw` ?[^\(${s}\|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C\)]+`;

/** Gemma 4: SentencePiece's spelling, divided only at the ends of lines. */
const lines = (): Pretokenizer => ({ ...rule(raw`[^\n]+|\n+`), alphabet: "marked" });
const gemma4 = () => ({ ...lines(), wholeWords: /^\n+$/, addBos: true, requiresBos: true });

const gpt2 = () => rule(gpt2Words);
const singleDigits = () => rule(one, gpt2Words);
const falcon = () => rule(raw`[\p{P}$+<=>\^~\|\x60]+`, gpt2Words, "[0-9]{3}");
const bloom = () => rule(bloomWords);
const qwen2 = () => rule(qwen2Words);
const ufakzeka = () => rule(raw`${lead}\p{L}+|${one}|${punctuation}|${linesAndSpaces}`);
const bailing = () => cl100k(one, raw`${s}*[\r\n]|${spaces}`);
const seedCoder = () =>
  rule(raw`${contraction}|${lead}\p{L}+|${one}| ?${symbols}|${linesAndSpaces}`);
const dbrx = () => cl100k(upToThree);
const llama3 = () => ({ ...dbrx(), wholeWords: anyWord, addBos: true });
const minicpm5 = () => ({
  ...rule(upToThree, ...cl100k(raw`\p{N}+`).cutters),
  wholeWords: anyWord,
});
const gpt4o = () => o200k(upToThree, `(?:${contraction})?`);
const graniteMultilingual = () => ({
  ...o200k(upToThree, `(?:${contraction})?`, raw`\p{L}\p{M}`),
  wholeWords: anyWord,
});
const tekken = () => ({ ...o200k(one, ""), wholeWords: anyWord, addBos: true });
const tinyAya = () => rule(threes(raw`\p{N}+`), caseless(upToThree));
const superbpe = () => rule(raw`\p{N}+`, threes("[0-9]+"));
const deepseekV3 = () => rule(upToThree, hanAndKana, deepseekWords(deepseekTail));
const spark = () =>
  rule(upToThree, hanAndKana, deepseekWords(raw` ?[\p{P}\p{S}]+|[\r\n]|${spaces}`), one);

/** llama.cpp's rule for files that name none. No model was trained with it. */
const general = () => rule(raw`[\p{P}$+<=>\^~\|]+`, gpt2Words, raw`\p{N}+`, "[0-9]{3}");

/** The rules by name. Each line has one rule, which is made on demand, and its names. */
const rules: readonly (readonly [make: () => Pretokenizer, names: string])[] = [
  [general, "default"],
  [gpt2, "gpt-2 gpt2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum"],
  [gpt2, "modern-bert jina-v1-en jina-v2-code roberta-bpe mpt gpt-neox olmo jais trillion exaone4"],
  [gpt2, "granite-docling"],
  [singleDigits, "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"],
  [falcon, "falcon"],
  [chameleon, "chameleon"],
  [bloom, "bloom poro-chat gpt3-finnish"],
  [() => rule(bloomWords, one), "viking"],
  [qwen2, "qwen2 deepseek-r1-qwen stablelm2 hunyuan solar-open megrez grok-2 kormo f2llmv2"],
  [() => rule(raw`[^\n]+|\n+`, qwen2Words), "laguna"],
  [qwen35, "qwen35"],
  [ufakzeka, "ufakzeka"],
  [bailing, "bailingmoe bailingmoe2 llada-moe"],
  [seedCoder, "seed-coder"],
  [exaoneMoe, "exaone-moe"],
  [dbrx, "dbrx smaug-bpe glm4 chatglm-bpe"],
  [llama3, "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"],
  [minicpm5, "minicpm5"],
  [jais2, "jais-2"],
  [gpt4o, "gpt-4o llama4 kanana2 talkie minimax-m2"],
  [graniteMultilingual, "granite-embed-multi-97m"],
  [tekken, "tekken"],
  [tinyAya, "tiny_aya cohere2moe"],
  [youtu, "youtu"],
  [superbpe, "superbpe"],
  [deepseekLlm, "deepseek-llm"],
  [deepseekCoder, "deepseek-coder"],
  [deepseekV3, "deepseek-v3 hunyuan-dense joyai-llm hy_v4"],
  [spark, "spark2_5"],
  [afmoe, "afmoe"],
  [kimiK2, "kimi-k2"],
  [gemma4, "gemma4 granite-embed-multi-311m"],
  [lines, "sarvam-moe"],
  [() => ({ ...rule(raw`${S}+`), alphabet: "plain" }), "whitespace"],
];

const byName = new Map(
  rules.flatMap(([make, names]) => names.split(" ").map((name) => [name, make] as const)),
);

/**
 * The rule for a `tokenizer.ggml.pre`; undefined for an unknown name. Files without one get
 * llama.cpp's default.
 */
export function pretokenizerOf(name = "default"): Pretokenizer | undefined {
  return byName.get(name)?.();
}

/**
 * The rule for unknown names, which are newer than this list. Most models since GPT-4 divide text
 * like this, and if they separate digits, no merge joins digits. So it is a better guess than the
 * default rule.
 */
export function guessPretokenizer(): Pretokenizer {
  return dbrx();
}

// Pretokenization: how byte-level BPE divides a text into words before it merges. Merges never
// cross the border of a word. A rule may have several cutters, each of which divides the parts that
// the one before made; text between two matches is a word, too. pretokenizers.ts has the rules.

/** Receives the word `part[start, end)`. */
type WordVisitor = (part: string, start: number, end: number) => void;

/**
 * Divides a text into words, and calls the visitor for each, from left to right and without gaps.
 */
type Cutter = (part: string, visit: WordVisitor) => void;

/** A rule that divides text into words. */
export interface Pretokenizer {
  /** The cutters, applied in order, each to the parts that the one before made. */
  readonly cutters: readonly Cutter[];
  /** Matches words that become their own token if there is one, whatever the merges say. */
  readonly wholeWords?: RegExp;
  /**
   * How pieces are written: their bytes in the byte alphabet ("bytes", the default), or their
   * characters as they are ("plain") or with U+2581 for spaces ("marked").
   */
  readonly alphabet?: "bytes" | "marked" | "plain";
  /** Whether texts begin with BOS if the metadata does not say. */
  readonly addBos?: boolean;
  /** Whether texts begin with BOS even if the metadata says otherwise. */
  readonly requiresBos?: boolean;
}

/** Visits the words of `text` in order. Joined they are `text`. */
export function forEachWord(text: string, pretokenizer: Pretokenizer, visit: WordVisitor): void {
  cut(text, pretokenizer.cutters, 0, visit);
}

function cut(part: string, cutters: readonly Cutter[], index: number, visit: WordVisitor): void {
  const isLast = index === cutters.length - 1;
  // A copy of the part, because a lookahead must not see the next part.
  const next: WordVisitor = isLast
    ? visit
    : (part, start, end) => cut(part.slice(start, end), cutters, index + 1, visit);
  cutters[index]!(part, next);
}

/**
 * A cutter whose words are the matches of an expression and the text between them.
 * @param source an expression in "v" mode that does not match the empty string
 */
function matches(source: string): Cutter {
  // Most matches are adjacent, and test() on a sticky expression allocates nothing.
  const sticky = new RegExp(source, "yv");
  const global = new RegExp(source, "gv");
  return (part, visit) => {
    for (let start = 0, end = 0; start < part.length; start = end) {
      sticky.lastIndex = start;
      if (sticky.test(part)) end = sticky.lastIndex;
      else {
        global.lastIndex = start;
        end = global.exec(part)?.index ?? part.length;
      }
      visit(part, start, end);
    }
  };
}

/**
 * A cutter for runs of digits, in threes from the right. The text before a run stays together with
 * the run's first digits, and the following cutters divide the two.
 * @param run expression in "v" mode for a run
 */
function threes(run: string): Cutter {
  const expression = new RegExp(run, "gv");
  return (part, visit) => {
    let start = 0;
    for (const { 0: match, index } of part.matchAll(expression)) {
      const digits = [...match];
      let end = index;
      for (const [index, digit] of digits.entries()) {
        end += digit.length;
        if ((digits.length - index) % 3 !== 1) continue;
        visit(part, start, end);
        start = end;
      }
    }
    if (start < part.length) visit(part, start, part.length);
  };
}
