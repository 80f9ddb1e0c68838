// Open classes of words, as names and products are: any other word could stand in the place of an
// entry. Every fifth entry is held out (random.ts). In training most values are made up in the shape
// of an entry, so that only copying works; for the vocabulary all are, so that no entry becomes a
// token of its own.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { madeUpWord } from "./made_up.ts";

/** Share of the values to learn from that is made up. */
const MADE_UP = 0.4;
/** Share of the words of a blurred phrase that is made up. */
const BLURRED = 0.08;

/** What makes a phrase of several words stays when the others are made up. */
const GRAMMAR = new Set(
  ("a an the of to in on at by for from with under behind beside next near over above into up out is " +
    "are was has have will be not no and or I you we me my it its com org net").split(" "),
);

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
    return isMadeUp ? entry.replace(/\p{L}+/gu, (word) => instead(word, random)) : entry;
  }

  /** Several different values; the part of the list that belongs to the split has as many. */
  sample(count: number, random: Random, split: Split): string[] {
    const values = new Set<string>();
    while (values.size < count) values.add(this.pick(random, split));
    return [...values];
  }
}

/**
 * A phrase with places like `{name}` in it, of which in training a few words are made up: what it is
 * about has to be found though not every word is known, as in a phrase that was never seen.
 */
export function blurred(phrase: string, random: Random, split: Split): string {
  if (split !== "train") return phrase;
  return phrase.replace(
    /\{\w+\}|\p{L}+/gu,
    (word) => word[0] !== "{" && random.chance(BLURRED) ? instead(word, random) : word,
  );
}

/** A made-up word for a real one, with a capital where that has one. */
function instead(word: string, random: Random): string {
  if (GRAMMAR.has(word)) return word;
  let other = madeUpWord(random);
  while (real.has(other)) other = madeUpWord(random);
  return word === word.toLowerCase() ? other : other[0]!.toUpperCase() + other.slice(1);
}
