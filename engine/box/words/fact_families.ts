// Kinds of facts about a user that differ in one word: favourites, people and where things are. The
// type of all facts is here too.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { firstName } from "./names.ts";
import type { OpenClass } from "./open_class.ts";
import { SPOTS } from "./things.ts";
import { integer } from "./values.ts";

/** A kind of fact about the user. */
export interface Fact {
  make(random: Random, split: Split): string;
  tells: readonly string[];
  /** What is answered when the fact is told. */
  noted: string;
  corrections: readonly string[];
  asks: readonly string[];
  /** What is answered when the fact is asked for. */
  recalled: string;
}

export const of = (words: OpenClass) => (random: Random, split: Split) => words.pick(random, split);

export const number = (least: number, most: number) => (random: Random, split: Split) =>
  String(integer(random, split, least, most));

export function favourite(thing: string, make: Fact["make"]): Fact {
  return {
    make,
    tells: [
      `My favourite ${thing} is {value}.`,
      `The ${thing} I like best is {value}.`,
      `I think {value} is my favourite ${thing}.`,
      `If you ask me for a ${thing}: {value} is the best.`,
      `As for my favourite ${thing}, it is {value}.`,
    ],
    noted: `Your favourite ${thing} is {value}, noted.`,
    corrections: [
      `Actually, my favourite ${thing} is {value}.`,
      `No, wait, my favourite ${thing} is {value}.`,
      `I changed my mind, my favourite ${thing} is {value}.`,
      `Sorry, I meant {value} as my favourite ${thing}.`,
      `My favourite ${thing} is {value} now.`,
    ],
    asks: [
      `What is my favourite ${thing}?`,
      `Which ${thing} do I like best?`,
      `Do you remember my favourite ${thing}?`,
      `What did I say is my favourite ${thing}?`,
      `Can you tell me my favourite ${thing}?`,
    ],
    recalled: `Your favourite ${thing} is {value}.`,
  };
}

export function relative(relation: string): Fact {
  return {
    make: firstName,
    tells: [
      `My ${relation} is called {value}.`,
      `I have a ${relation} called {value}.`,
      `My ${relation}'s name is {value}.`,
      `The name of my ${relation} is {value}.`,
      `{value} is my ${relation}.`,
    ],
    noted: `Your ${relation} is called {value}, noted.`,
    corrections: [
      `Actually, my ${relation} is called {value}.`,
      `Sorry, my ${relation}'s name is {value}.`,
      `No, wait, the name of my ${relation} is {value}.`,
      `I meant {value}, that is my ${relation}.`,
      `I was wrong, my ${relation} is called {value}.`,
    ],
    asks: [
      `What is my ${relation}'s name?`,
      `What is my ${relation} called?`,
      `What is the name of my ${relation}?`,
      `Who is my ${relation}?`,
      `Do you remember the name of my ${relation}?`,
    ],
    recalled: `Your ${relation} is called {value}.`,
  };
}

export function hidden(thing: string, verb: "is" | "are"): Fact {
  return {
    make: of(SPOTS),
    tells: [
      `My ${thing} ${verb} {value}.`,
      `I left my ${thing} {value}.`,
      `I put my ${thing} {value}.`,
      `Remember that my ${thing} ${verb} {value}.`,
      `The ${thing} ${verb} {value}.`,
    ],
    noted: `Your ${thing} ${verb} {value}, noted.`,
    corrections: [
      `Actually, my ${thing} ${verb} {value}.`,
      `No, wait, I put my ${thing} {value}.`,
      `I moved my ${thing}, now {value}.`,
      `Sorry, my ${thing} ${verb} {value}.`,
      `I was wrong, the ${thing} ${verb} {value}.`,
    ],
    asks: [
      `Where ${verb} my ${thing}?`,
      `Where did I leave my ${thing}?`,
      `Where did I put my ${thing}?`,
      `Do you know where my ${thing} ${verb}?`,
      `Can you tell me where the ${thing} ${verb}?`,
    ],
    recalled: `Your ${thing} ${verb} {value}.`,
  };
}
