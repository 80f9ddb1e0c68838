// Derivatives: what may follow once a character is read, after Brzozowski (1964), with the rest of
// the text as a continuation, so that assertions anywhere see all of it. An Ahead becomes part of an
// intersection; a Behind is carried along and derived by every character that is read.

import { ANY_CHARACTER, hasCharacter } from "./character_set.ts";
import { LanguageError } from "./errors.ts";
import { type Expression, Flag, Kind } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import { firstSets, partition } from "./partition.ts";

/**
 * Where each code point leads: segment i begins at starts[i] and ends before starts[i + 1]. What is no
 * character leads to the empty language, and so does the last segment, beyond all code points.
 */
export interface Transitions {
  readonly starts: readonly number[];
  readonly targets: readonly Expression[];
}

/** Most steps of one derivative. */
const MAX_STEPS = 20_000;

/** Most steps of all derivatives between two calls of allowWork(): half a second. */
const MAX_WORK = 2_000_000;

/** Most segments that all transitions kept have together: some 100 MB. */
const MAX_SEGMENTS = 4_000_000;

/** Derivatives of the expressions of one store, cached for classes of characters. */
export class Derivatives {
  readonly #expressions: Expressions;
  readonly #transitions: (Transitions | undefined)[] = [];
  /** Steps taken so far, which is how long it took. */
  work = 0;
  #end = MAX_WORK;
  #segments = 0;
  #steps = 0;

  constructor(expressions: Expressions) {
    this.#expressions = expressions;
  }

  /** Whether nothing new may be derived until more work is allowed. */
  get isSpent(): boolean {
    return this.work > this.#end;
  }

  /** Allows as much work again as at the beginning. */
  allowWork(): void {
    this.#end = this.work + MAX_WORK;
  }

  /**
   * What follows `expression`, a whole language, for every character.
   * @throws {LanguageError} if that is not known yet, and takes too long to find out
   */
  transitions(expression: Expression): Transitions {
    return this.#transitions[expression] ??= this.#compute(expression);
  }

  /** What follows `expression` once `codePoint` is read. */
  derive(expression: Expression, codePoint: number): Expression {
    const { starts, targets } = this.transitions(expression);
    return targets[segmentOf(starts, codePoint)]!;
  }

  #compute(expression: Expression): Transitions {
    if (this.isSpent) {
      throw new LanguageError(`Deriving a language: it takes over ${MAX_WORK} steps`);
    }
    const sets = firstSets(this.#expressions, expression);
    const { starts, blocks, count } = partition([ANY_CHARACTER, ...sets]);
    this.work += (starts.length * sets.length) >> 4;
    const byBlock = new Array<Expression>(count).fill(-1);
    const transitions: { starts: number[]; targets: Expression[] } = { starts: [], targets: [] };
    for (let i = 0; i < starts.length; i++) {
      let target = byBlock[blocks[i]!]!;
      if (target < 0) {
        this.#steps = 0;
        const valid = hasCharacter(ANY_CHARACTER, starts[i]!);
        target = valid ? this.#derive(expression, starts[i]!) : this.#expressions.empty;
        byBlock[blocks[i]!] = target;
      }
      if (transitions.targets.at(-1) === target) continue;
      transitions.starts.push(starts[i]!);
      transitions.targets.push(target);
    }
    this.#segments += transitions.starts.length;
    if (this.#segments > MAX_SEGMENTS) {
      throw new LanguageError(`Deriving a language: it takes over ${MAX_SEGMENTS} transitions`);
    }
    return transitions;
  }

  #derive(expression: Expression, character: number): Expression {
    return this.#advance(expression, character, this.#expressions.epsilon);
  }

  /** The rest of `expression` followed by `next`, once `character` is read within `expression`. */
  #advance(expression: Expression, character: number, next: Expression): Expression {
    this.work++;
    if (++this.#steps > MAX_STEPS) {
      throw new LanguageError(`Deriving a language: a character takes over ${MAX_STEPS} steps`);
    }
    const e = this.#expressions;
    const { kinds, first } = e.store;
    switch (kinds[expression]) {
      case Kind.Set:
        return hasCharacter(e.sets[first[expression]!]!, character) ? next : e.empty;
      case Kind.Concat:
        return this.#advanceConcat(expression, character, next);
      case Kind.Repeat:
        return this.#advanceRepeat(expression, character, next);
      case Kind.Or:
        return e.or(
          e.items(expression, Kind.Or).map((item) => this.#advance(item, character, next)),
        );
      case Kind.And: {
        const parts = e.items(expression, Kind.And).map((item) => this.#derive(item, character));
        return e.concat(e.and(parts), next);
      }
      case Kind.Not:
        return e.concat(e.not(this.#derive(first[expression]!, character)), next);
      default:
        return e.empty;
    }
  }

  #advanceConcat(expression: Expression, character: number, next: Expression): Expression {
    const e = this.#expressions;
    const { kinds, first, second } = e.store;
    const alternatives: Expression[] = [];
    let condition = e.everything;
    for (;;) {
      const last = kinds[expression] !== Kind.Concat;
      const head = last ? expression : first[expression]!;
      const rest = last ? next : e.concat(this.#shift(second[expression]!, character), next);
      const part = this.#advance(head, character, rest);
      alternatives.push(e.and([condition, part]));
      if (last) break;
      const skip = this.#skipping(head);
      if (skip === e.empty) break;
      if (skip !== e.everything) condition = e.and([condition, this.#derive(skip, character)]);
      if (condition === e.empty) break;
      expression = second[expression]!;
    }
    return alternatives.length === 1 ? alternatives[0]! : e.or(alternatives);
  }

  #advanceRepeat(expression: Expression, character: number, next: Expression): Expression {
    const e = this.#expressions;
    const { first, second, third } = e.store;
    const body = first[expression]!;
    const min = second[expression]!;
    const max = third[expression] === -1 ? Infinity : third[expression]!;
    const shifted = this.#shift(body, character);
    const after = (least: number) => e.concat(e.repeat(shifted, least, max - 1), next);
    const counted = this.#advance(body, character, after(Math.max(min - 1, 0)));
    const skip = min > 1 ? this.#skipping(body) : e.empty;
    if (skip === e.empty) return counted;
    // Where the body can match nothing, all rounds that are still required can do so here.
    const skipped = this.#advance(body, character, after(0));
    return e.or([counted, e.and([this.#derive(skip, character), skipped])]);
  }

  /** The rests of the text for which `expression` may match nothing here. */
  #skipping(expression: Expression): Expression {
    const e = this.#expressions;
    const { store } = e;
    const { kinds, first, second } = store;
    if (!store.has(expression, Flag.Skippable)) return e.empty;
    if (!store.has(expression, Flag.Open)) return e.everything;
    const all = (kind: number) => e.items(expression, kind).map((item) => this.#skipping(item));
    switch (kinds[expression]) {
      case Kind.Ahead:
        return first[expression]!;
      case Kind.Behind:
        return store.has(first[expression]!, Flag.Nullable) ? e.everything : e.empty;
      case Kind.Concat:
        return e.and(all(Kind.Concat));
      case Kind.Or:
        return e.or(all(Kind.Or));
      default:
        return second[expression] === 0 ? e.everything : this.#skipping(first[expression]!);
    }
  }

  /** The same expression, one character further into the text. */
  #shift(expression: Expression, character: number): Expression {
    const e = this.#expressions;
    const { kinds, first, second, third } = e.store;
    if (!e.store.has(expression, Flag.Behind)) return expression;
    const operand = first[expression]!;
    const all = (kind: number) =>
      e.items(expression, kind).map((item) => this.#shift(item, character));
    switch (kinds[expression]) {
      case Kind.Behind:
        return e.behind(this.#derive(operand, character));
      case Kind.Ahead:
        return e.ahead(this.#shift(operand, character));
      case Kind.Not:
        return e.not(this.#shift(operand, character));
      case Kind.Or:
        return e.or(all(Kind.Or));
      case Kind.And:
        return e.and(all(Kind.And));
      case Kind.Concat:
        return all(Kind.Concat).reduceRight((rest, item) => e.concat(item, rest));
      default: {
        const max = third[expression] === -1 ? Infinity : third[expression]!;
        return e.repeat(this.#shift(operand, character), second[expression]!, max);
      }
    }
  }
}

/** The index of the segment that holds a code point. */
export function segmentOf(starts: readonly number[], codePoint: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= codePoint) low = middle;
    else high = middle;
  }
  return low;
}
