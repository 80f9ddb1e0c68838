// Open classes of words, as names and products are: any other word could stand in the place of an
// entry. Every fifth entry is held out (random.ts). In training many values are made up in the shape
// of an entry, so that only copying works; for the vocabulary all are, so that no entry becomes a
// token of its own.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { madeUpWord } from "./made_up.ts";

/** Share of the values to learn from that is made up. */
const MADE_UP = 0.3;
/** Small words, which hold an entry of several words together, stay. */
const GRAMMAR =
  /^(?:a|an|the|of|to|in|on|at|by|for|from|with|under|behind|beside|next|near|over|and)$/;

/** The words of all lists, in small letters: none of them is made up by chance. */
const real = new Set<string>();

/** A list of words or short phrases that stands for all others of its kind. */
export class OpenClass {
  readonly #entries: readonly string[];

  /** @param text the entries, with a comma and a space between two */
  constructor(text: string) {
    this.#entries = text.split(", ");
    for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) real.add(word);
  }

  /** A value of the class: an entry, or something made up in its shape. */
  pick(random: Random, split: Split): string {
    const entry = random.pickOf(this.#entries, split);
    const isMadeUp = split === "vocabulary" || split === "train" && random.chance(MADE_UP);
    return isMadeUp
      ? entry.replace(/\p{L}+/gu, (word) => GRAMMAR.test(word) ? word : instead(word, random))
      : entry;
  }

  /** Several different values; the part of the list that belongs to the split has as many. */
  sample(count: number, random: Random, split: Split): string[] {
    const values = new Set<string>();
    while (values.size < count) values.add(this.pick(random, split));
    return [...values];
  }
}

/** A made-up word for a real one, with a capital where that has one. */
function instead(word: string, random: Random): string {
  let other = madeUpWord(random);
  while (real.has(other)) other = madeUpWord(random);
  return word === word.toLowerCase() ? other : other[0]!.toUpperCase() + other.slice(1);
}
