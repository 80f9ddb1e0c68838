// Whether a text has a string left, after a prefix, that differs from all of a finite set of words.
// This is exact, because only prefixes of the words need a search; elsewhere it is enough that the
// text can end.

import type { Work } from "../../language/mod.ts";
import { NO_WORDS, type WordSet, type WordSets } from "../collections.ts";
import type { TextRules } from "./text_rules.ts";

/** Longest path along words that is searched. Longer words count as unavoidable. */
const MAX_DEPTH = 2000;

/** Steps of work for all transitions of a position. */
const POSITION_STEPS = 20;

/** Finds and caches which positions in texts have strings left outside which sets. */
export class WordAvoidance {
  readonly #words: WordSets;
  readonly #work: Work;
  readonly #known = new Map<TextRules, Map<string, boolean>>();

  constructor(words: WordSets, work: Work) {
    this.#words = words;
    this.#work = work;
  }

  /** Whether a text, from a position on where it can be completed, has a string outside of the set. */
  isPossible(text: TextRules, state: number, characters: number, avoided: WordSet): boolean {
    return this.#search(text, state, characters, avoided, 0);
  }

  #search(
    text: TextRules,
    state: number,
    characters: number,
    avoided: WordSet,
    depth: number,
  ): boolean {
    if (avoided === NO_WORDS) return true;
    if (text.isComplete(state, characters) && !this.#words.hasEmpty(avoided)) return true;
    if (depth > MAX_DEPTH) return false;
    let known = this.#known.get(text);
    if (!known) this.#known.set(text, known = new Map());
    const key = `${state},${characters},${avoided}`;
    let possible = known.get(key);
    if (possible === undefined) {
      possible = this.#searchNext(text, state, characters, avoided, depth);
      known.set(key, possible);
    }
    return possible;
  }

  #searchNext(
    text: TextRules,
    state: number,
    characters: number,
    avoided: WordSet,
    depth: number,
  ): boolean {
    this.#work.charge(POSITION_STEPS);
    const along: [next: number, counted: number, rest: WordSet][] = [];
    for (let byte = 0x20; byte < 0xf5; byte++) {
      const next = text.automaton.step(state, byte);
      const counted = text.charactersAt(next, characters);
      if (next === 0 || !text.isFeasible(next, counted)) continue;
      const rest = this.#words.after(avoided, byte);
      if (rest === NO_WORDS) return true;
      along.push([next, counted, rest]);
    }
    return along.some(([next, counted, rest]) =>
      this.#search(text, next, counted, rest, depth + 1)
    );
  }
}
