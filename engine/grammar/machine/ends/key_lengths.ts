// The fewest bytes that further undeclared keys of an object need. All keys must differ, so the
// keys of a language are counted by length, without writing them out.

import type { Work } from "../../language/mod.ts";
import type { TextAutomaton } from "../texts/text_automaton.ts";

/** Steps of an automaton for counting keys. Longer keys are not looked for. */
const MAX_STEPS = 300_000;

/** Steps of work for all transitions of a state. */
const STATE_STEPS = 40;

/** Keys of one length, in bytes. */
interface Run {
  readonly length: number;
  readonly count: number;
}

/** The numbers of keys of a language by their lengths, shortest first. */
export class KeyLengths {
  readonly #automaton: TextAutomaton;
  /** By state: the number of texts of the current length that lead to it. */
  #frontier: Map<number, number>;
  #length = 0;
  #steps = 0;
  readonly #runs: Run[] = [];
  readonly #work: Work;

  constructor(automaton: TextAutomaton, work: Work) {
    this.#automaton = automaton;
    this.#work = work;
    this.#frontier = new Map(automaton.start === 0 ? [] : [[automaton.start, 1]]);
  }

  /** The run at an index; undefined if no more keys were found. */
  run(index: number): Run | undefined {
    while (this.#runs.length <= index && this.#frontier.size > 0) this.#lengthen();
    return this.#runs[index];
  }

  #lengthen(): void {
    const automaton = this.#automaton;
    let count = 0;
    const longer = new Map<number, number>();
    for (const [state, texts] of this.#frontier) {
      if (automaton.isBoundary(state) && automaton.accepts(state)) count += texts;
    }
    const steps = this.#steps + 256 * this.#frontier.size;
    if (steps <= MAX_STEPS) {
      for (const [state, texts] of this.#frontier) {
        this.#work.charge(STATE_STEPS);
        for (let byte = 0x20; byte < 0xf5; byte++) {
          const next = automaton.step(state, byte);
          if (next !== 0) longer.set(next, (longer.get(next) ?? 0) + texts);
        }
      }
    }
    // Results are stored only when all are found, because the budget may be spent before.
    if (count > 0) this.#runs.push({ length: this.#length, count });
    this.#length++;
    this.#steps = steps;
    this.#frontier = longer;
  }
}

/** The keys of a language, and the bytes of the shortest value for them. */
export interface WeighedKeys {
  readonly keys: KeyLengths;
  readonly value: number;
}

/** Bytes around a key and its value: quotes, colon and comma. */
const AROUND = 4;

/**
 * The weights of the lightest keys with their values, lightest first, after the first `skipped`:
 * pairs of a weight and the number of keys that have it, `count` keys in all, or fewer if no more
 * are known.
 */
export function* lightestKeys(
  languages: readonly WeighedKeys[],
  skipped: number,
  count: number,
): Generator<readonly [weight: number, times: number]> {
  const runs = languages.map(() => 0);
  while (count > 0) {
    let best = -1;
    let least = Infinity;
    languages.forEach(({ keys, value }, at) => {
      const weight = (keys.run(runs[at]!)?.length ?? Infinity) + value + AROUND;
      if (weight < least) [best, least] = [at, weight];
    });
    if (best < 0) return;
    const all = languages[best]!.keys.run(runs[best]!)!.count;
    runs[best]!++;
    const used = Math.min(all, skipped);
    skipped -= used;
    const times = Math.min(all - used, count);
    count -= times;
    if (times > 0) yield [least, times];
  }
}
