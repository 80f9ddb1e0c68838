// The length of the shortest text of an expression that consists of sets, lists, alternatives and
// repetitions only (Flag.Plain), computed from its form without derivatives.

import { type CharacterSet, intersectSets } from "./character_set.ts";
import { type Expression, Kind } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import { cheapestCharacter, type Writing } from "./json_escapes.ts";

/** The unit of lengths, and the characters that texts may contain. */
export interface LengthOptions {
  /** Undefined: lengths are in characters. */
  readonly writing?: Writing | undefined;
  /** Undefined: all characters. */
  readonly alphabet?: CharacterSet;
}

/** The shortest lengths of plain expressions, in characters or bytes. */
export class PlainLengths {
  readonly #expressions: Expressions;
  readonly #options: LengthOptions;
  readonly #known: (number | undefined)[] = [];

  /** Of expressions of one store. */
  constructor(expressions: Expressions, options: LengthOptions) {
    this.#expressions = expressions;
    this.#options = options;
  }

  /**
   * Fewest characters or bytes of a plain expression; Infinity if no text of it is within the
   * alphabet.
   */
  of(expression: Expression): number {
    const { kinds, first, second, work } = this.#expressions.store;
    // Lists nest to the right, too deep for recursion. The lengths of their ends are known from
    // earlier calls.
    const list: Expression[] = [];
    let at = expression;
    while (
      this.#known[at] === undefined && (kinds[at] === Kind.Concat || kinds[at] === Kind.Or)
    ) {
      list.push(at);
      at = second[at]!;
    }
    let length = this.#known[at] ??= this.#ofItem(at);
    for (const part of list.reverse()) {
      const item = this.of(first[part]!);
      length = kinds[part] === Kind.Or ? Math.min(item, length) : item + length;
      this.#known[part] = length;
    }
    work.spend(list.length);
    return length;
  }

  #ofItem(item: Expression): number {
    const { sets, store } = this.#expressions;
    const { kinds, first, second } = store;
    if (kinds[item] === Kind.Repeat) {
      return second[item] === 0 ? 0 : second[item]! * this.of(first[item]!);
    }
    return kinds[item] === Kind.Set ? this.#ofSet(sets[first[item]!]!) : 0;
  }

  #ofSet(all: CharacterSet): number {
    const { writing, alphabet } = this.#options;
    const set = alphabet ? intersectSets(all, alphabet) : all;
    if (!writing) return set.length > 0 ? 1 : Infinity;
    let bytes = Infinity;
    for (let at = 0; at < set.length && bytes > 1; at += 2) {
      bytes = Math.min(bytes, cheapestCharacter(set[at]!, set[at + 1]!, writing).bytes);
    }
    return bytes;
  }
}
