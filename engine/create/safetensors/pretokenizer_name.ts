// The name in GGUF of the pretokenization rule of a tokenizer.json. The expressions are those with
// which the models were published; they are compared, not run.

import { UnsupportedModelError } from "../../errors.ts";
import type { Settings } from "./settings.ts";

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
