// Open classes of words, as names and products are: any other word could stand in the place of an
// entry. Every fifth entry is held out (random.ts). In training many values are made up in the shape
// of an entry, so that only copying works; for the vocabulary all are, so that no entry becomes a
// token of its own.

import { capitalize, type Random } from "../random.ts";
import type { Split } from "../types.ts";
import { commonWord, madeUpWord } from "./made_up.ts";

/** Share of the values to learn from that is made up. */
const MADE_UP = 0.3;
/** Share of the made-up words of a phrase that are common words, in a place of their own. */
const COMMON = 0.2;
/** Small words, which hold an entry of several words together, stay. */
const GRAMMAR =
  /^(?:a|an|the|of|to|in|on|at|by|for|from|with|under|behind|beside|next|near|over|and)$/;

/** All entries, in small letters: none of them is made up by chance, nor used in another phrase. */
const real = new Set<string>();

/** A list of words or short phrases that stands for all others of its kind. */
export class OpenClass {
  readonly #entries: readonly string[];

  /** @param text the entries, with a comma and a space between two */
  constructor(text: string) {
    this.#entries = text.split(", ");
    for (const entry of this.#entries) real.add(entry.toLowerCase());
  }

  /** A value of the class: an entry, or something made up in its shape. */
  pick(random: Random, split: Split): string {
    const entry = random.pickOf(this.#entries, split);
    const isMadeUp = split === "vocabulary" || split === "train" && random.chance(MADE_UP);
    return isMadeUp ? inShapeOf(entry, random) : entry;
  }

  /** Several different values; the part of the list that belongs to the split has as many. */
  sample(count: number, random: Random, split: Split): string[] {
    const values = new Set<string>();
    while (values.size < count) values.add(this.pick(random, split));
    return [...values];
  }
}

/** Something made up with as many words, the same grammar and the same capitals. */
function inShapeOf(entry: string, random: Random): string {
  const isPhrase = entry.includes(" ");
  for (;;) {
    const value = entry.replace(
      /\p{L}+/gu,
      (word) => GRAMMAR.test(word) ? word : instead(word, isPhrase, random),
    );
    if (!real.has(value.toLowerCase())) return value;
  }
}

/** A made-up word for a real one, with a capital where that has one. */
function instead(word: string, isPhrase: boolean, random: Random): string {
  const make = isPhrase && random.chance(COMMON) ? commonWord : madeUpWord;
  let other = make(random);
  while (real.has(other)) other = make(random);
  return word === word.toLowerCase() ? other : capitalize(other);
}
