// Kinds of facts about a user that differ in one word: favourites, people and where things are. The
// type of all facts is here too.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { firstName } from "./names.ts";
import type { OpenClass } from "./open_class.ts";
import { SPOTS } from "./things.ts";
import { integer } from "./values.ts";

/** A kind of fact about the user; what the user says is patterns (random.ts). */
export interface Fact {
  make(random: Random, split: Split): string;
  tells: readonly string[];
  /** What is answered when the fact is told. */
  noted: string;
  asks: readonly string[];
  /** What is answered when the fact is asked for. */
  recalled: string;
  /** What is answered when it was never told: as `recalled`, but where the value would be. */
  untold: string;
}

/** Ways to ask for something that has a name. */
export const RECALL =
  "[What is|What's|Do you remember|Do you know|Can you tell me|Tell me|What did I say is|Do you still know|What was]";
/** Ways to ask where or how something is. */
export const RECALL_HOW = "[Do you remember|Do you know|Can you tell me|Tell me|Do you still know]";

export const of = (words: OpenClass) => (random: Random, split: Split) => words.pick(random, split);

export const number = (least: number, most: number) => (random: Random, split: Split) =>
  String(integer(random, split, least, most));

export function favourite(thing: string, make: Fact["make"]): Fact {
  return {
    make,
    tells: [
      `My favourite ${thing} is [|now |still |and was always ]{value}.`,
      `The ${thing} I [like best|love most|like most|prefer] is {value}.`,
      `[If you ask for|As for|When it comes to] my favourite ${thing}, it is {value}.`,
    ],
    noted: `Your favourite ${thing} is {value}, noted.`,
    asks: [
      `${RECALL} my favourite ${thing}?`,
      `[Which|What] ${thing} do I [like best|love most|like most|prefer]?`,
      `[Which|What] is my favourite ${thing}?`,
    ],
    recalled: `Your favourite ${thing} is {value}.`,
    untold: `Your favourite ${thing} is not known to me.`,
  };
}

export function relative(relation: string): Fact {
  return {
    make: firstName,
    tells: [
      `My ${relation}['s name is| is called| is named| has the name] {value}.`,
      `I [|also |still ]have a ${relation} [called|named|with the name] {value}.`,
      `The name of my ${relation} is [|still |now ]{value}.`,
      `{value} is [|the name of |what I call ]my ${relation}.`,
      `[I|We|They|People] [|also |still ]call my ${relation} {value}.`,
    ],
    noted: `Your ${relation} is called {value}, noted.`,
    asks: [
      `${RECALL} [my ${relation}'s name|the name of my ${relation}]?`,
      `[What is my ${relation} called|Who is my ${relation}|What do I call my ${relation}]?`,
      `[How|What] is my ${relation} [called|named]?`,
    ],
    recalled: `Your ${relation} is called {value}.`,
    untold: `Your ${relation} is called by a name I do not know.`,
  };
}

export function hidden(thing: string, verb: "is" | "are"): Fact {
  return {
    make: of(SPOTS),
    tells: [
      `[My|The] ${thing} ${verb} [|now |always |still ]{value}.`,
      `I [left|put|keep|have|placed] [my|the] ${thing} {value}.`,
    ],
    noted: `Your ${thing} ${verb} {value}, noted.`,
    asks: [
      `Where [${verb}|did I leave|did I put|do I keep|do I find] [my|the] ${thing}?`,
      `${RECALL_HOW} where [my|the] ${thing} ${verb}?`,
      `${RECALL_HOW} where I [left|put] my ${thing}?`,
    ],
    recalled: `Your ${thing} ${verb} {value}.`,
    untold: `Your ${thing} ${verb} somewhere I do not know.`,
  };
}
