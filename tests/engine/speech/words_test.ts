// Words of a transcript: how tokens become words, the cheapest way through a matrix against one that
// tries all ways, and how words and segments get their times.

import { assert, assertEquals } from "@std/assert";
import { attentionMatrix, warp } from "../../../engine/speech/alignment.ts";
import { assignWords, type TimedWord, timeWords } from "../../../engine/speech/word_times.ts";
import { joinMarks, splitWords } from "../../../engine/speech/words.ts";
import type { Tokenizer } from "../../../tokenizer/mod.ts";
import { randomFloats } from "../../numbers.ts";

/** A tokenizer with a token for each of some texts, or bytes. */
function tokensOf(...pieces: (string | number[])[]): [tokens: number[], tokenizer: Tokenizer] {
  const bytes = pieces.map((piece) =>
    typeof piece === "string" ? new TextEncoder().encode(piece) : Uint8Array.from(piece)
  );
  const tokenizer = { tokenBytes: (token: number) => bytes[token] };
  return [[...pieces.keys()], tokenizer as unknown as Tokenizer];
}

function wordsOf(language: string, ...pieces: (string | number[])[]): string[] {
  const [tokens, tokenizer] = tokensOf(...pieces);
  const words = splitWords(tokens, tokenizer, language);
  assertEquals(words.flatMap(({ tokens }) => tokens), tokens);
  return words.map(({ text }) => text);
}

Deno.test("a word begins with a space or a mark", () => {
  assertEquals(
    wordsOf("en", " At", " 9", ".", "30", " o", "'", "clock", ",", " bo", "at", "s"),
    [" At", " 9", ".30", " o", "'clock", ",", " boats"],
  );
  assertEquals(wordsOf("de", "Gr", "üße"), ["Grüße"]);
});

Deno.test("a character in several tokens is whole, and damaged bytes are words", () => {
  const [first, second, third] = new TextEncoder().encode("に");
  const split = [[first], [second, third], "本"] as const;
  assertEquals(wordsOf("ja", ...split.map((part) => part as string | number[])), ["に", "本"]);
  assertEquals(wordsOf("en", " a", [0xe3, 0x81], " b"), [" a\ufffd", " b"]);
  assertEquals(wordsOf("en", [0x80], [0xf0, 0x9f]), ["\ufffd\ufffd"]);
});

Deno.test("without spaces a word is a character or what a token has", () => {
  assertEquals(wordsOf("zh", "今天", "好", "。"), ["今天", "好", "。"]);
});

Deno.test("marks join the word behind them or before them", () => {
  const [tokens, tokenizer] = tokensOf(
    " “",
    "Yes",
    ",",
    " he",
    " (",
    "she",
    ")",
    "!",
    '"',
    " said",
  );
  const joined = joinMarks(splitWords(tokens, tokenizer, "en").map((word) => ({ ...word })));
  assertEquals(joined.map(({ text }) => text), [" “Yes,", " he", ' (she)!"', " said"]);
  assertEquals(joined.flatMap(({ tokens }) => tokens), tokens);
});

function finish<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** The largest sum of any way from the first cell to the last, with the rows where tokens begin. */
function bestWay(
  matrix: Float64Array,
  tokens: number,
  rows: number,
): [sum: number, first: number[]] {
  let best: [number, number[]] = [-Infinity, []];
  const go = (token: number, row: number, sum: number, first: number[]) => {
    const own = sum + matrix[token * rows + row];
    if (token === tokens - 1 && row === rows - 1) {
      if (own > best[0]) best = [own, first];
      return;
    }
    for (const [t, r] of [[1, 1], [1, 0], [0, 1]]) {
      if (token + t === tokens || row + r === rows) continue;
      go(token + t, row + r, own, t === 1 ? [...first, row + r] : first);
    }
  };
  go(0, 0, 0, [0]);
  return best;
}

Deno.test("the way through a matrix is the best of all ways", () => {
  for (const [tokens, rows] of [[1, 1], [1, 5], [4, 1], [3, 6], [5, 5], [6, 3]]) {
    for (let seed = 0; seed < 20; seed++) {
      const matrix = Float64Array.from(randomFloats(tokens * rows, 100 * tokens + seed));
      assertEquals([...finish(warp(matrix, tokens, rows))], bestWay(matrix, tokens, rows)[1]);
    }
  }
});

Deno.test("tokens are found where their heads attend to", () => {
  // Each token's query is the key of a row of its own, and rows lie in blocks of ten.
  const [tokens, rows, size] = [6, 60, 16];
  const keys = randomFloats(tokens * size, 3).map((value) => 4 * value);
  const head = {
    queries: keys,
    keys: Float32Array.from(
      { length: rows * size },
      (_, i) => keys[Math.floor(i / size / 10) * size + i % size],
    ),
  };
  const matrix = finish(attentionMatrix([head, head], tokens, rows));
  assertEquals([...finish(warp(matrix, tokens, rows))], [0, 10, 20, 30, 40, 50]);
  // Rows behind the sound count for nothing.
  const short = finish(attentionMatrix([head], tokens, 35));
  assertEquals(short.length, tokens * 35);
  assert(short.every(Number.isFinite));
});

const word = (text: string, start: number, end: number): TimedWord => ({
  text,
  tokens: [7],
  start,
  end,
  probability: 0.5,
});
const segment = (start: number, end: number, count: number) => ({
  start,
  end,
  tokens: new Array(count).fill(7),
});

Deno.test("a word lasts from its first token to the next word's", () => {
  const words = [{ text: " ab", tokens: [1, 2] }, { text: " c", tokens: [3] }];
  assertEquals(timeWords(words, [5, 10, 20, 30], [0.5, 1, 0.25]), [
    { text: " ab", tokens: [1, 2], start: 0.1, end: 0.4, probability: 0.75 },
    { text: " c", tokens: [3], start: 0.4, end: 0.6, probability: 0.25 },
  ]);
});

Deno.test("segments get their words, and begin and end with them", () => {
  const words = [
    word(" a", 0.2, 0.4),
    word(" b", 0.4, 0.6),
    word(".", 0.6, 0.7),
    word(" c", 1, 1.2),
  ];
  const segments = [segment(10, 10.8, 3), segment(11, 12, 1), segment(12, 13, 0)];
  const timed = assignWords(segments, words, { offset: 10, lastSpoken: 10 });
  assertEquals(timed, [
    {
      start: 10.2,
      end: 10.6,
      words: [
        { start: 10.2, end: 10.4, text: " a", probability: 0.5 },
        { start: 10.4, end: 10.6, text: " b.", probability: 0.5 },
      ],
    },
    { start: 11, end: 11.2, words: [{ start: 11, end: 11.2, text: " c", probability: 0.5 }] },
    { start: 12, end: 13, words: [] },
  ]);
});

Deno.test("words that were stretched over a pause are cut", () => {
  // The median is 0.2, so the first word behind a pause is at most 0.4 long.
  const words = [word(" a", 0, 5), word(" b", 5, 5.2), word(" c", 5.2, 5.4), word(" d", 5.4, 5.5)];
  const [{ start, words: [first] }] = assignWords([segment(4.7, 5.5, 4)], words, {
    offset: 0,
    lastSpoken: 0,
  });
  assertEquals([start, first.start, first.end].map((value) => value.toFixed(2)), [
    "4.60",
    "4.60",
    "5.00",
  ]);
  // A mark at the end of a sentence, and the word behind it.
  const ends = [word(" a", 0, 0.2), word(".", 0.2, 3), word(" b", 3, 6), word(" c", 6, 6.2)];
  const [{ words: cut }] = assignWords([segment(0, 7, 4)], ends, { offset: 0, lastSpoken: 0 });
  assertEquals(cut.map(({ end }) => end), [0.2, 6, 6.2]);
});

Deno.test("a segment's own times are believed where the words' are far from them", () => {
  const words = [word(" a", 0, 1), word(" b", 1, 2), word(" c", 2, 9)];
  const [{ start, end, words: own }] = assignWords([segment(0.7, 3, 3)], words, {
    offset: 0,
    lastSpoken: 0,
  });
  assertEquals([start, end], [0.7, 3]);
  assertEquals([own[0].start.toFixed(2), own[2].end], ["0.30", 3]);
});
