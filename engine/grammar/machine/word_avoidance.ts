// Strings of an automaton that are none of a finite set: whether any is left after a prefix. Exact,
// because only prefixes of the set's members need a search; anywhere else a live state is enough.

import type { TextAutomaton } from "./text_rules.ts";
import { NO_WORDS, type WordSet, type WordSets } from "./word_sets.ts";

/** Longest path along members that is searched; longer members count as unavoidable. */
const MAX_DEPTH = 2000;

/** Remembers which states have strings left outside which sets. */
export class WordAvoidance {
  readonly #words: WordSets;
  readonly #known = new Map<TextAutomaton, Map<string, boolean>>();

  constructor(words: WordSets) {
    this.#words = words;
  }

  /** Whether the automaton, from a live state on, has a string that is not of the set. */
  isPossible(automaton: TextAutomaton, state: number, avoided: WordSet): boolean {
    return avoided === NO_WORDS || this.#search(automaton, state, avoided, 0);
  }

  #search(automaton: TextAutomaton, state: number, avoided: WordSet, depth: number): boolean {
    if (avoided === NO_WORDS) return true;
    if (automaton.accepts(state) && !this.#words.hasEmpty(avoided)) return true;
    if (depth > MAX_DEPTH) return false;
    let known = this.#known.get(automaton);
    if (!known) this.#known.set(automaton, known = new Map());
    const key = `${state},${avoided}`;
    let possible = known.get(key);
    if (possible === undefined) {
      possible = this.#searchNext(automaton, state, avoided, depth);
      known.set(key, possible);
    }
    return possible;
  }

  #searchNext(automaton: TextAutomaton, state: number, avoided: WordSet, depth: number): boolean {
    const along: [next: number, rest: WordSet][] = [];
    for (let byte = 0x20; byte < 0xf5; byte++) {
      const next = automaton.step(state, byte);
      if (next === 0) continue;
      const rest = this.#words.after(avoided, byte);
      if (rest === NO_WORDS) return true;
      along.push([next, rest]);
    }
    return along.some(([next, rest]) => this.#search(automaton, next, rest, depth + 1));
  }
}
