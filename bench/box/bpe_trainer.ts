// Learns a byte-level BPE vocabulary from a corpus: the most frequent pair of neighbours becomes a
// token, again and again (Sennrich et al., 2016). Words are cut as Qwen 2 cuts them, each digit alone.
// The mark before a word, as its space, joins it last and only as a whole: so a word that has no
// token of its own falls into the same tokens after a space, a quotation mark or nothing.

import { createTokenizer, type Tokenizer } from "../../tokenizer/mod.ts";

/** How Qwen 2 cuts texts into words; no token crosses their borders. */
export const WORDS =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** Tokens in the alphabet of bytes, and the pairs that made them, in order. */
export interface Vocabulary {
  tokens: string[];
  merges: [string, string][];
}

/** A word with a mark before it, as WORDS lets it have one. */
const MARKED_WORD = /^([^\p{L}\p{N}])(\p{L}+)$/u;

/** Byte to the character that stands for it in vocabularies: GPT-2's printable alphabet. */
const ALPHABET = byteAlphabet();

/** A word that is being put together. */
interface Word {
  parts: string[];
  count: number;
}

/** Share of the tokens that are left to words with the mark before them. */
const MARKED = 0.25;

/**
 * Learns a vocabulary.
 *
 * @param texts the corpus
 * @param size tokens in all, those of the 256 bytes included
 */
export function trainVocabulary(texts: Iterable<string>, size: number): Vocabulary {
  const { words, marked } = countWords(texts);
  const tokens = [...ALPHABET].sort();
  const inner = Math.ceil((size - tokens.length) * (1 - MARKED));
  const merges = [
    ...mergeInside([...words.values()], inner),
    ...mergeMarks(words, marked, size - tokens.length - inner),
  ];
  return { tokens: [...tokens, ...merges.map((pair) => pair.join(""))], merges };
}

/** What encodes texts by a vocabulary. @param specials control tokens, which come after its own */
export function tokenizerOf(
  { tokens, merges }: Vocabulary,
  specials: readonly string[] = [],
): Tokenizer {
  return createTokenizer({
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "qwen2",
    "tokenizer.ggml.tokens": [...tokens, ...specials],
    "tokenizer.ggml.token_type": [...tokens.map(() => 1), ...specials.map(() => 3)],
    "tokenizer.ggml.merges": merges.map((pair) => pair.join(" ")),
  });
}

/** The merges that put the words together. */
function mergeInside(words: readonly Word[], count: number): [string, string][] {
  const pairs = new Map<string, { count: number; words: Set<Word> }>();
  const note = (word: Word, factor: 1 | -1) => {
    for (let i = 1; i < word.parts.length; i++) {
      const key = `${word.parts[i - 1]} ${word.parts[i]}`;
      let pair = pairs.get(key);
      if (!pair) pairs.set(key, pair = { count: 0, words: new Set() });
      pair.count += factor * word.count;
      if (factor > 0) pair.words.add(word);
    }
  };
  for (const word of words) note(word, 1);

  const merges: [string, string][] = [];
  while (merges.length < count) {
    let best = "";
    let most = 1;
    for (const [key, { count }] of pairs) {
      if (count > most || count === most && key < best) [best, most] = [key, count];
    }
    if (!best) break;
    const [left, right] = best.split(" ") as [string, string];
    for (const word of [...pairs.get(best)!.words]) {
      note(word, -1);
      word.parts = merged(word.parts, left, right);
      note(word, 1);
    }
    pairs.delete(best);
    merges.push([left, right]);
  }
  return merges;
}

/** The merges of marks with the words after them that are one token, the most frequent first. */
function mergeMarks(
  words: ReadonlyMap<string, Word>,
  marked: ReadonlyMap<string, number>,
  count: number,
): [string, string][] {
  const merges: [string, string][] = [];
  const byCount = [...marked].sort(([a, countA], [b, countB]) =>
    countB - countA || (a < b ? -1 : 1)
  );
  for (const [text] of byCount) {
    if (merges.length === count) break;
    const [, mark, letters] = text.match(MARKED_WORD)!;
    const [whole, ...rest] = words.get(letters!)!.parts;
    const marks = alphabetical(mark!);
    if (rest.length === 0 && marks.length === 1) merges.push([marks[0]!, whole!]);
  }
  return merges;
}

function merged(parts: readonly string[], left: string, right: string): string[] {
  const result: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    const isPair = parts[i] === left && parts[i + 1] === right;
    result.push(isPair ? left + right : parts[i]!);
    if (isPair) i++;
  }
  return result;
}

/** How often each word comes without the mark before it, and with it. */
function countWords(
  texts: Iterable<string>,
): { words: Map<string, Word>; marked: Map<string, number> } {
  const words = new Map<string, Word>();
  const marked = new Map<string, number>();
  const pattern = new RegExp(WORDS, "gu");
  for (const text of texts) {
    for (const [match] of text.matchAll(pattern)) {
      const letters = match.match(MARKED_WORD)?.[2];
      if (letters) marked.set(match, (marked.get(match) ?? 0) + 1);
      const bare = letters ?? match;
      let word = words.get(bare);
      if (!word) words.set(bare, word = { parts: alphabetical(bare), count: 0 });
      word.count++;
    }
  }
  return { words, marked };
}

/** The bytes of a text in the alphabet. */
function alphabetical(text: string): string[] {
  return Array.from(new TextEncoder().encode(text), (byte) => ALPHABET[byte]!);
}

function byteAlphabet(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = byte > 32 && byte < 127 || byte > 160 && byte !== 173;
    return String.fromCharCode(isPrintable ? byte : next++);
  });
}
