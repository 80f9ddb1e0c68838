// Learns a byte-level BPE vocabulary from a corpus: the most frequent pair of neighbours becomes a
// token, again and again (Sennrich et al., 2016). Words are cut as Qwen 2 cuts them, each digit alone.
// Counts are taken as square roots, so that a vocabulary of generated texts is not all set phrases.

/** How Qwen 2 cuts texts into words; no token crosses their borders. */
export const WORDS =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** Tokens in the alphabet of bytes, and the pairs that made them, in order. */
export interface Vocabulary {
  tokens: string[];
  merges: [string, string][];
}

/** Byte to the character that stands for it in vocabularies: GPT-2's printable alphabet. */
const ALPHABET = byteAlphabet();

/** A word that is being put together. */
interface Word {
  parts: string[];
  count: number;
}

/**
 * Learns a vocabulary.
 *
 * @param texts the corpus
 * @param size tokens in all, those of the 256 bytes included
 */
export function trainVocabulary(texts: Iterable<string>, size: number): Vocabulary {
  const words = countWords(texts);
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

  const tokens = [...ALPHABET].sort();
  const merges: [string, string][] = [];
  while (tokens.length < size) {
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
    tokens.push(left + right);
  }
  return { tokens, merges };
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

function countWords(texts: Iterable<string>): Word[] {
  const counts = new Map<string, number>();
  const pattern = new RegExp(WORDS, "gu");
  for (const text of texts) {
    for (const [word] of text.matchAll(pattern)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const encoder = new TextEncoder();
  return [...counts].map(([word, count]) => ({
    parts: Array.from(encoder.encode(word), (byte) => ALPHABET[byte]!),
    count: Math.sqrt(count),
  }));
}

function byteAlphabet(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = byte > 32 && byte < 127 || byte > 160 && byte !== 173;
    return String.fromCharCode(isPrintable ? byte : next++);
  });
}
