// Languages in which no plain text is a dead end: every text that has been written can be
// completed. This module finds how much is missing at most, from the form of an expression alone.
// So it may miss some languages, and the number may be too large.

import { type CharacterSet, intersectSets } from "./character_set.ts";
import { type Expression, Flag, Kind } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import { PlainLengths } from "./distances.ts";

/**
 * The plain characters: those that a JSON string contains without escapes, except for U+2028 and
 * U+2029, which a dot in patterns does not match.
 */
const PLAIN: CharacterSet = [
  ...[0x20, 0x21, 0x23, 0x5b, 0x5d, 0x2027],
  ...[0x202a, 0xd7ff, 0xe000, 0x10ffff],
];

/** The most characters that any plain text lacks to be in a language. */
export class OpenEnds {
  readonly #expressions: Expressions;
  /** The lengths of all texts, and of those that are plain themselves. */
  readonly #lengths: PlainLengths;
  readonly #plainLengths: PlainLengths;
  readonly #known: (number | undefined)[] = [];
  readonly #knownPlain: (number | undefined)[] = [];
  /** By index of a set: whether it contains all plain characters. */
  readonly #isWhole: (boolean | undefined)[] = [];
  readonly #isLasting: (boolean | undefined)[] = [];

  /** Open ends of the expressions of one store. */
  constructor(expressions: Expressions) {
    this.#expressions = expressions;
    this.#lengths = new PlainLengths(expressions, {});
    this.#plainLengths = new PlainLengths(expressions, { alphabet: PLAIN });
  }

  /** The most that any plain text lacks to be in the language of an expression; Infinity: unknown. */
  mostMissing(expression: Expression): number {
    return this.#most(expression, false);
  }

  /** Whether a language has any text, as far as the form of its expression shows. */
  hasText(expression: Expression): boolean {
    return this.#expressions.store.has(expression, Flag.Plain) ||
      this.mostMissing(expression) < Infinity;
  }

  /** What mostMissing() tells; with `isPlain`, completions must be plain texts themselves. */
  #most(expression: Expression, isPlain: boolean): number {
    const known = isPlain ? this.#knownPlain : this.#known;
    let most = known[expression];
    if (most === undefined) {
      this.#expressions.store.work.spend(1);
      known[expression] = most = this.#find(expression, isPlain);
    }
    return most;
  }

  #find(expression: Expression, isPlain: boolean): number {
    const { store } = this.#expressions;
    const { kinds, first, second, third, max } = store;
    switch (kinds[expression]) {
      case Kind.Repeat:
        return third[expression] === -1 && this.#takesAny(first[expression]!)
          ? second[expression]!
          : Infinity;
      case Kind.Concat:
        return this.#findOfList(expression, isPlain);
      case Kind.Or:
        return Math.min(
          ...this.#expressions.items(expression, Kind.Or).map((item) => this.#most(item, isPlain)),
        );
      case Kind.Not:
        return isShort(this.#expressions, expression) ? max[first[expression]!]! + 1 : Infinity;
      case Kind.And:
        return this.#findOfAll(this.#expressions.items(expression, Kind.And), isPlain);
      default:
        return Infinity;
    }
  }

  #findOfList(list: Expression, isPlain: boolean): number {
    const { store } = this.#expressions;
    const { kinds, first, second } = store;
    const lengths = isPlain ? this.#plainLengths : this.#lengths;
    // Parts before the open one accept any text, or can be left out.
    let before = 0;
    let most = Infinity;
    let at = list;
    for (; kinds[at] === Kind.Concat; at = second[at]!) {
      const item = first[at]!;
      const rest = second[at]!;
      const own = store.has(rest, Flag.Plain) ? this.#most(item, isPlain) : Infinity;
      if (own < Infinity) most = Math.min(most, before + own + lengths.of(rest));
      if (store.has(item, Flag.Nullable | Flag.Plain)) continue;
      const [body, min] = this.#expressions.times(item);
      if (!this.#takesAny(body)) return most;
      before += min;
    }
    return Math.min(most, before + this.#most(at, isPlain));
  }

  /**
   * What a sequence of parts lacks: first characters until the text is too long for all short
   * exceptions, then the completion of each part that later parts cannot undo, then that of the
   * last.
   */
  #findOfAll(parts: readonly Expression[], isPlain: boolean): number {
    const others = parts.filter((part) => !isShort(this.#expressions, part));
    const isAlone = others.length < 2;
    if (!isAlone && others.filter((part) => !this.#lasts(part)).length > 1) return Infinity;
    return parts.reduce((sum, part) => sum + this.#most(part, isPlain || !isAlone), 0);
  }

  /**
   * Whether a text of the language, followed by any plain text, is always in the language again.
   */
  #lasts(expression: Expression): boolean {
    return this.#isLasting[expression] ??= this.#findLasts(expression);
  }

  #findLasts(expression: Expression): boolean {
    const { store } = this.#expressions;
    const { kinds, first, third } = store;
    const items = (kind: number) => this.#expressions.items(expression, kind);
    // An assertion about text beyond the expression may be violated by what follows.
    if (store.has(expression, Flag.Open)) return false;
    switch (kinds[expression]) {
      case Kind.Repeat:
        return third[expression] === -1 && this.#takesAny(first[expression]!);
      case Kind.Concat:
        return this.#lasts(items(Kind.Concat).at(-1)!);
      case Kind.Or:
        return items(Kind.Or).every((item) => this.#lasts(item));
      case Kind.And:
        return items(Kind.And).every((item) => this.#lasts(item));
      default:
        return false;
    }
  }

  /** Whether an expression is a set that contains all plain characters. */
  #takesAny(expression: Expression): boolean {
    const { sets, store } = this.#expressions;
    if (store.kinds[expression] !== Kind.Set) return false;
    const index = store.first[expression]!;
    return this.#isWhole[index] ??= intersectSets(PLAIN, sets[index]!).join() === PLAIN.join();
  }
}

/** Whether an expression excludes only texts of a limited length. */
function isShort({ store }: Expressions, expression: Expression): boolean {
  return store.kinds[expression] === Kind.Not && !store.has(expression, Flag.Behind) &&
    store.max[store.first[expression]!]! < Infinity;
}
