// A transcript's tokens as words: where spaces are written, from one space to the next, with marks
// apart; else by characters. Then marks join the word before or behind them. The rules are those of
// OpenAI's own program, so that words are alike. Pure.

import type { Tokenizer } from "../../tokenizer/mod.ts";

/** A word with its tokens. */
export interface Word {
  /** With the space in front of it. */
  readonly text: string;
  readonly tokens: readonly number[];
}

/** Codes of languages that are written without spaces between words. */
const WITHOUT_SPACES = new Set(["zh", "ja", "th", "lo", "my", "yue"]);

/** A mark, or several, of ASCII alone. */
const MARKS = /^[!-/:-@[-`{-~]*$/;

/** Marks that belong to the word behind them, if a space is in front. */
const OPENING = "\"'“¿([{-";

/** Marks that belong to the word before them. */
const CLOSING = "\"'.。,，!！?？:：”)]}、";

/** The words of tokens, none of which is a special one. */
export function splitWords(
  tokens: readonly number[],
  tokenizer: Tokenizer,
  language: string,
): Word[] {
  const parts = wholeCharacters(tokens, tokenizer);
  if (WITHOUT_SPACES.has(language)) return parts;
  const words: Word[] = [];
  for (const part of parts) {
    const isStart = part.text.startsWith(" ") || MARKS.test(part.text.trim());
    const before = isStart ? undefined : words.pop();
    words.push({
      text: (before?.text ?? "") + part.text,
      tokens: [...before?.tokens ?? [], ...part.tokens],
    });
  }
  return words;
}

/** Tokens joined where a character is in several of them. */
function wholeCharacters(tokens: readonly number[], tokenizer: Tokenizer): Word[] {
  const decoder = new TextDecoder();
  const words: Word[] = [];
  let bytes: number[] = [];
  let own: number[] = [];
  const end = () => {
    if (own.length > 0) words.push({ text: decoder.decode(Uint8Array.from(bytes)), tokens: own });
    [bytes, own] = [[], []];
  };
  for (const token of tokens) {
    const more = tokenizer.tokenBytes(token);
    // What does not go on with a character begins anew, even if that one is not whole.
    if ((more[0] & 0xc0) !== 0x80) end();
    own.push(token);
    bytes.push(...more);
    if (!endsWithin(bytes)) end();
  }
  end();
  return words;
}

/** Whether bytes in UTF-8 end within a character. */
function endsWithin(bytes: readonly number[]): boolean {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte < 0x80) return false;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
  }
  return false;
}

/** Joins marks with their words, whose other members stay. Texts together are the same as before. */
export function joinMarks<W extends Word>(words: readonly W[]): W[] {
  const joined = words.map((word) => ({ ...word }));
  const join = (to: W, text: string, tokens: readonly number[]) =>
    Object.assign(to, { text, tokens });
  for (let at = words.length - 2, next = at + 1; at >= 0; at--) {
    const [mark, word] = [joined[at], joined[next]];
    const isOpening = mark.text.startsWith(" ") && OPENING.includes(mark.text.trim());
    if (!isOpening) next = at;
    else {
      join(word, mark.text + word.text, [...mark.tokens, ...word.tokens]);
      join(mark, "", []);
    }
  }
  for (let at = 1, last = 0; at < words.length; at++) {
    const [word, mark] = [joined[last], joined[at]];
    if (word.text.endsWith(" ") || !CLOSING.includes(mark.text)) last = at;
    else {
      join(word, word.text + mark.text, [...word.tokens, ...mark.tokens]);
      join(mark, "", []);
    }
  }
  return joined.filter(({ tokens }) => tokens.length > 0);
}
