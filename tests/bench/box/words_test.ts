// The words of the model in the box: what is held out is never learnt nor made up, much of what is
// learnt is made up, and the vocabulary has no token for the entry of a list, wherever it stands.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { tokenizerOf, trainVocabulary } from "../../../bench/box/bpe_trainer.ts";
import { Random } from "../../../bench/box/random.ts";
import { arithmetic } from "../../../bench/box/skills/arithmetic.ts";
import { CATALOG } from "../../../bench/box/skills/tools.ts";
import type { Split } from "../../../bench/box/types.ts";
import { madeUpWord } from "../../../bench/box/words/made_up.ts";
import { OpenClass } from "../../../bench/box/words/open_class.ts";
import { FACTS } from "../../../bench/box/words/personal.ts";
import { ADDITIONS, NAMING, OPEN, OPENINGS } from "../../../bench/box/words/sentences.ts";

const ENTRIES = [
  "apples",
  "olive oil",
  "Red Balloon",
  "under the bed",
  "tea",
  "salt",
  "rice",
  "beans",
  "Mint",
  "corn flour",
];
const HELD_OUT = ["tea", "corn flour"];

function draw(split: Split, count: number): string[] {
  const random = new Random(8);
  const open = new OpenClass(ENTRIES.join(", "));
  return Array.from({ length: count }, () => open.pick(random, split));
}

Deno.test("an open class gives held-out entries to the evaluation alone, as they are", () => {
  assertEquals(new Set(draw("heldOut", 100)), new Set(HELD_OUT));
  for (const split of ["train", "vocabulary"] as const) {
    for (const value of draw(split, 3000)) assert(!HELD_OUT.includes(value), value);
  }
});

Deno.test("an open class makes up three values of ten to learn from, and all of the vocabulary's", () => {
  const madeUp = draw("train", 3000).filter((value) => !ENTRIES.includes(value)).length / 3000;
  assert(madeUp > 0.26 && madeUp < 0.34, String(madeUp));
  assert(draw("vocabulary", 3000).every((value) => !ENTRIES.includes(value)));
});

Deno.test("a made-up value has the shape of an entry: its words, capitals and grammar", () => {
  const shapes = new Set(
    draw("vocabulary", 300).map((value) =>
      value.replace(/\b(?!(?:under|the)\b)[a-z]+/g, "w").replace(/[A-Z][a-z]*/g, "W")
    ),
  );
  assertEquals(shapes, new Set(["w", "w w", "W W", "under the w", "W"]));
});

Deno.test("expand() takes one way through each group of a pattern, and through those inside", () => {
  const random = new Random(5);
  const pattern = "[Tell me|Give [me|us]] the {thing}[|, please].";
  const wordings = new Set(Array.from({ length: 200 }, () => random.expand(pattern)));
  assertEquals(
    wordings,
    new Set(["Tell me", "Give me", "Give us"].flatMap((begin) => [
      `${begin} the {thing}.`,
      `${begin} the {thing}, please.`,
    ])),
  );
});

Deno.test("phraseOf() gives a wording to one split alone, about a fifth of them to the evaluation", () => {
  const random = new Random(6);
  const digit = "[0|1|2|3|4|5|6|7|8|9]";
  const wordingsOf = (split: Split) =>
    new Set(Array.from({ length: 5000 }, () => random.phraseOf([digit + digit], split)));
  const [learnt, heldOut] = [wordingsOf("train"), wordingsOf("heldOut")];
  assertEquals(learnt.size + heldOut.size, 100);
  assert([...heldOut].every((wording) => !learnt.has(wording)));
  assert(heldOut.size > 10 && heldOut.size < 30, String(heldOut.size));
  assertThrows(
    () => random.phraseOf(["one wording"], "train") + random.phraseOf(["one wording"], "heldOut"),
    RangeError,
    "Cannot word",
  );
});

Deno.test("every list of patterns has wordings to learn from and wordings for the evaluation", () => {
  const lists = [OPENINGS, NAMING, OPEN, ...Object.values(ADDITIONS)];
  lists.push(...FACTS.flatMap(({ tells, asks }) => [tells, asks]));
  lists.push(...CATALOG.map(({ requests }) => requests));
  for (const list of lists) {
    for (const split of ["train", "heldOut"] as const) new Random(1).phraseOf(list, split);
  }
});

Deno.test("OpenClass.sample() gives different values", () => {
  const open = new OpenClass(ENTRIES.join(", "));
  for (let seed = 0; seed < 100; seed++) {
    assertEquals(new Set(open.sample(2, new Random(seed), "heldOut")).size, 2);
    assertEquals(new Set(open.sample(4, new Random(seed), "train")).size, 4);
  }
});

Deno.test("madeUpWord() makes words of 3 to 12 small letters, few of them twice", () => {
  const random = new Random(3);
  const words = Array.from({ length: 2000 }, () => madeUpWord(random));
  for (const word of words) assert(/^[a-z]{3,12}$/.test(word), word);
  assert(new Set(words).size > 1800);
});

Deno.test("a word without a token of its own falls into the same tokens after any mark", () => {
  const texts = Array.from({ length: 30 }, (_, i) => `the bread and the ${"abcdef"[i % 6]}ther`);
  const { tokens, merges } = trainVocabulary(texts, 280);
  const tokenizer = tokenizerOf({ tokens, merges });
  const piecesOf = (text: string) =>
    [...tokenizer.encode(text)].map((id) => tokenizer.decode([id]));
  assertEquals(piecesOf(" bread"), [" bread"]);
  const alone = piecesOf("zanther");
  assert(alone.length > 1 && alone.length < 7, alone.join("|"));
  assertEquals(piecesOf(" zanther"), [" ", ...alone]);
  assertEquals(piecesOf("_zanther"), ["_", ...alone]);
});

Deno.test("sums to learn from have every digit above every other, and no held-out pair turned round", () => {
  const pairsOf = (split: Split, count: number) => {
    const random = new Random(4);
    return Array.from({ length: count }, () => arithmetic.example(random, split).turns[0]!)
      .flatMap(({ answer }) => {
        const [, a, b] = answer.text!.match(/^(\d\d) \+ (\d\d) =/) ?? [];
        return a && b ? [[a, b] as const] : [];
      });
  };
  const learnt = pairsOf("train", 20_000);
  assertEquals(new Set(learnt.map(([a, b]) => a[0]! + b[0])).size, 81);
  assertEquals(new Set(learnt.map(([a, b]) => a[1]! + b[1])).size, 100);
  const known = new Set(learnt.flatMap(([a, b]) => [`${a} ${b}`, `${b} ${a}`]));
  for (const [a, b] of pairsOf("heldOut", 2000)) assert(!known.has(`${a} ${b}`), `${a} + ${b}`);
});
