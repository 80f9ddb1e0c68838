// Unigram on vocabularies small enough to follow by hand, and against all cuts of random texts.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createTokenizer, type Metadata, TokenizerError } from "../../tokenizer/mod.ts";
import { charsmap } from "./charsmaps.ts";
import { randomText, seeded } from "./random_texts.ts";
import { kind, type Piece, vocabulary } from "./vocabularies.ts";

const special: Piece[] = [["<pad>", kind.control], ["</s>", kind.control], ["<unk>", kind.unknown]];

/** A vocabulary whose pieces follow at 3. */
function unigram(pieces: readonly Piece[], more: Metadata = {}): Metadata {
  return vocabulary("t5", [...special, ...pieces], more);
}

const prefix = { "tokenizer.ggml.add_space_prefix": true };
const merge = { "tokenizer.ggml.remove_extra_whitespaces": true };

const pieces: Piece[] = [
  ["▁", kind.normal, -2], // 3
  ["a", kind.normal, -3],
  ["b", kind.normal, -3],
  ["ab", kind.normal, -5], // 6
  ["abb", kind.normal, -7], // 7
  ["▁a", kind.normal, -4], // 8
  ["bb", kind.normal, -5.5], // 9
  ["<tool>", kind.userDefined], // 10
  ["f", kind.normal, -4], // 11
  ["i", kind.normal, -4], // 12
];

Deno.test("encode() takes the cut whose log probabilities have the largest sum", () => {
  const tokenizer = createTokenizer(unigram(pieces));
  assertEquals(tokenizer.encode("ab"), [6]);
  assertEquals(tokenizer.encode("abb"), [7]);
  // "ab" + "bb" is -10.5, "abb" + "b" is -10; a greedy cut from the right would differ.
  assertEquals(tokenizer.encode("abbb"), [7, 5]);
  assertEquals(tokenizer.encode("bbbb"), [9, 9]);
});

Deno.test("encode() takes the first of equal cuts, the one whose last piece is longest", () => {
  const equal: Piece[] = [["a", kind.normal, -1], ["aa", kind.normal, -2]];
  assertEquals(createTokenizer(unigram(equal)).encode("aaa"), [3, 4]);
});

Deno.test("encode() gives one unknown token for a row of unknown characters", () => {
  const tokenizer = createTokenizer(unigram(pieces));
  assertEquals(tokenizer.encode("é🙂a中"), [2, 4, 2]);
  assertEquals(tokenizer.encode("x<unk>x"), [2, 2, 2]);
  const without = vocabulary("t5", [["a", kind.normal, -1]]);
  assertEquals(createTokenizer(without).encode("axa"), [0, 0]);
});

Deno.test("encode() covers what an unknown character would break with a longer piece", () => {
  // "z" alone is unknown, at ten below the worst piece.
  const tokenizer = createTokenizer(unigram([["a", kind.normal, -1], ["az", kind.normal, -10]]));
  assertEquals(tokenizer.encode("az"), [4]);
  const unlikely = unigram([["a", kind.normal, -1], ["az", kind.normal, -30], ["b", 1, -2]]);
  assertEquals(createTokenizer(unlikely).encode("az"), [4], "-30 beats -1 - 40");
});

Deno.test("encode() takes user-defined pieces whole", () => {
  const tokenizer = createTokenizer(unigram(pieces, prefix));
  assertEquals(tokenizer.encode("a<tool>a", { special: false }), [8, 10, 8]);
});

Deno.test("encode() puts, keeps and merges spaces as the file says", () => {
  const spaces = (text: string, more: Metadata) =>
    createTokenizer(unigram(pieces, more)).encode(text);
  assertEquals(spaces("a  b", {}), [4, 3, 3, 5]);
  assertEquals(spaces("a  b", prefix), [8, 3, 3, 5]);
  assertEquals(spaces(" a", prefix), [3, 8]);
  assertEquals(spaces("  a  b  ", { ...prefix, ...merge }), [8, 3, 5]);
  assertEquals(spaces("  a  b  ", merge), [8, 3, 5]);
  assertEquals(spaces("   ", { ...prefix, ...merge }), []);
  assertEquals(spaces("", prefix), []);
});

Deno.test("encode() puts EOS where asked, unless the file denies it", () => {
  assertEquals(createTokenizer(unigram(pieces)).encode("a", { bos: true, eos: true }), [4, 1]);
  const denied = unigram(pieces, { "tokenizer.ggml.add_eos_token": false });
  assertEquals(createTokenizer(denied).encode("a", { eos: true }), [4]);
});

Deno.test("encode() normalizes by the longest replacement of the file's table", () => {
  const table = charsmap({
    "\t": " ",
    "ﬁ": "fi",
    "Ａ": "a",
    "a\u0301": "b",
    "a\u0301\u0302": "ab",
    "\u200b": "",
  });
  for (const bytes of [table, new Int8Array(table.buffer)]) {
    const more = { ...prefix, ...merge, "tokenizer.ggml.precompiled_charsmap": bytes };
    const tokenizer = createTokenizer(unigram(pieces, more));
    assertEquals(tokenizer.encode("ﬁ"), [3, 11, 12]);
    assertEquals(tokenizer.encode("Ａ\t\u200bＡ"), [8, 8]);
    assertEquals(tokenizer.encode("a\u0301"), [3, 5]);
    assertEquals(tokenizer.encode("a\u0301\u0302"), [3, 6]);
    assertEquals(tokenizer.encode("\0a"), [3, 2, 4]);
  }
});

Deno.test("createTokenizer() refuses a table of normalization that is cut short", () => {
  for (const length of [1, 3, 4, 100]) {
    const table = charsmap({ "\t": " " }).subarray(0, length);
    const metadata = unigram(pieces, { "tokenizer.ggml.precompiled_charsmap": table });
    assertThrows(() => createTokenizer(metadata), TokenizerError, `its ${length} bytes`);
  }
  const wrong = unigram(pieces, { "tokenizer.ggml.precompiled_charsmap": "x" });
  assertThrows(() => createTokenizer(wrong), TokenizerError, "not an array of bytes");
});

Deno.test("encode() survives tables of normalization that are noise", () => {
  const random = seeded(3);
  for (let round = 0; round < 200; round++) {
    const table = Uint8Array.from({ length: 404 }, () => random(256));
    new DataView(table.buffer).setUint32(0, 4 * random(101), true);
    const more = { "tokenizer.ggml.precompiled_charsmap": table };
    const ids = createTokenizer(unigram(pieces, more)).encode(randomText(random, 40));
    assert(ids.every((id) => id >= 0 && id < 13));
  }
});

Deno.test("decode() takes off the space that encode() put before", () => {
  const tokenizer = createTokenizer(unigram(pieces, prefix));
  for (const text of ["ab b", " a", "a  "]) {
    assertEquals(tokenizer.decode(tokenizer.encode(text)), text);
  }
});

/** The best sum over all cuts of `text`, by trying each. */
function bestSum(text: string, scores: ReadonlyMap<string, number>, unknown: number): number {
  if (text === "") return 0;
  let best = -Infinity;
  for (let length = 1; length <= text.length; length++) {
    const score = scores.get(text.slice(0, length)) ?? (length === 1 ? unknown : undefined);
    if (score === undefined) continue;
    best = Math.max(best, score + bestSum(text.slice(length), scores, unknown));
  }
  return best;
}

Deno.test("encode() is as good as the best of all cuts for 400 random texts", () => {
  const random = seeded(11);
  for (let round = 0; round < 20; round++) {
    const scores = new Map<string, number>();
    while (scores.size < 25) {
      const piece = Array.from({ length: 1 + random(4) }, () => "abc▁"[random(4)]).join("");
      scores.set(piece, -Math.fround(1 + random(1e6) / 1e5));
    }
    const entries = [...scores].map(([piece, score]): Piece => [piece, kind.normal, score]);
    const tokenizer = createTokenizer(unigram(entries));
    const unknown = Math.fround(Math.min(...scores.values()) - 10);
    for (let count = 0; count < 20; count++) {
      const text = Array.from({ length: random(13) }, () => "abc d"[random(5)]).join("");
      const marked = text.replaceAll(" ", "▁");
      const ids = tokenizer.encode(text);
      // A row of unknown characters is one token: its length is what the pieces leave.
      const known = ids.filter((id) => id !== 2).map((id) => tokenizer.piece(id));
      const left = marked.length - known.join("").length;
      const sum = known.reduce((sum, piece) => sum + scores.get(piece)!, left * unknown);
      assert(Math.abs(sum - bestSum(marked, scores, unknown)) < 1e-9, JSON.stringify(text));
    }
  }
});
