// Derivatives: the language that remains after a character is read (Brzozowski 1964). The rest of
// the text is passed along as a continuation, so that assertions anywhere can refer to it. An Ahead
// becomes part of an intersection; a Behind is kept in the expression and derived by every
// character that is read.

import {
  ANY_CHARACTER,
  type CharacterSet,
  hasCharacter,
  intersectSets,
  partition,
} from "./character_set.ts";
import { LanguageError } from "./errors.ts";
import { BEYOND_NODES, type Expression, Flag, Kind } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import { type Piece, SegmentCache, segmentOf, type Transitions } from "./segments.ts";
import type { Work } from "./work.ts";

/** Steps of work for each part of an expression that is derived. */
const PART_STEPS = 4;

/** Steps of work for characters that lead to one target, so that nothing is joined. */
const SINGLE_STEPS = 0.5;

/** Most steps of one derivative while a schema is compiled. */
const MAX_STEPS = 20_000;

/** Most segments of all cached transitions together: some 100 MB. */
const MAX_SEGMENTS = 4_000_000;

/** Derivatives of the expressions of one store, cached for classes of characters. */
export class Derivatives {
  readonly #expressions: Expressions;
  readonly #transitions: (Transitions | undefined)[] = [];
  readonly #cache: SegmentCache;
  /** Counts the work. */
  readonly work: Work;
  #segments = 0;
  #steps = 0;

  constructor(expressions: Expressions) {
    this.#expressions = expressions;
    this.work = expressions.store.work;
    this.#cache = new SegmentCache(expressions.empty, this.work);
  }

  /** Whether the caches are full, so that masks may add nothing. */
  get isFull(): boolean {
    return this.work.isFull(this.#segments, MAX_SEGMENTS);
  }

  /**
   * The derivatives of `expression`, a whole language, for every character.
   * @throws {LanguageError | OutOfWork} if they are not known yet and take too long to compute
   */
  transitions(expression: Expression): Transitions {
    return this.#transitions[expression] ??= this.#compute(expression);
  }

  /** The derivative of `expression` by a character. */
  derive(expression: Expression, codePoint: number): Expression {
    const { starts, targets } = this.transitions(expression);
    return targets[segmentOf(starts, codePoint)]!;
  }

  #compute(expression: Expression): Transitions {
    this.work.check();
    const before = this.#steps;
    this.#steps = 0;
    const transitions = this.#find(expression);
    this.#steps = before;
    const { length } = transitions.starts;
    this.work.spend(8 + (length >> 2));
    this.work.keep(this.#segments + length, MAX_SEGMENTS, "transitions");
    this.#segments += length;
    return transitions;
  }

  /**
   * Computes derivatives: of a list part by part, since parts recur in other lists; of an
   * expression that looks behind, for each class of characters.
   */
  #find(expression: Expression): Transitions {
    const e = this.#expressions;
    const { kinds, first } = e.store;
    switch (kinds[expression]) {
      case Kind.Or:
        return this.#unite(
          e.items(expression, Kind.Or).flatMap((item) => this.#pieces(item, true)),
        );
      case Kind.And: {
        const parts = e.items(expression, Kind.And);
        const pieces = parts.flatMap((part) => this.#pieces(part, true));
        const among = (indices: readonly number[]) => indices.map((index) => pieces[index]!.target);
        return this.#assemble(
          pieces,
          (indices) => indices.length < parts.length ? e.empty : e.and(among(indices)),
        );
      }
      case Kind.Not: {
        const any = { set: ANY_CHARACTER, target: e.everything };
        const pieces = [any, ...this.#pieces(first[expression]!, true)];
        return this.#assemble(
          pieces,
          ([isCharacter, index]) =>
            isCharacter === undefined
              ? e.empty
              : e.not(index === undefined ? e.empty : pieces[index]!.target),
        );
      }
      default:
        return this.#isClosed(expression)
          ? this.#unite(this.#pieces(expression))
          : this.#findByClasses(expression);
    }
  }

  /** The targets of characters, each listed once if `apart` is set. */
  #pieces(expression: Expression, apart = false): readonly Piece[] {
    if (apart || !this.#isClosed(expression)) {
      return this.#cache.piecesOf(this.transitions(expression));
    }
    const pieces: Piece[] = [];
    this.#addPieces(expression, this.#expressions.epsilon, pieces, new Set());
    return pieces;
  }

  /** Whether an expression contains no Behind. */
  #isClosed(expression: Expression): boolean {
    return !this.#expressions.store.has(expression, Flag.Behind);
  }

  #unite(pieces: readonly Piece[]): Transitions {
    const e = this.#expressions;
    return this.#assemble(pieces, (indices) => {
      if (indices.length < 2) return indices.length === 0 ? e.empty : pieces[indices[0]!]!.target;
      return e.or(indices.map((index) => pieces[index]!.target));
    });
  }

  #assemble(
    pieces: readonly Piece[],
    join: (indices: readonly number[]) => Expression,
  ): Transitions {
    return this.#cache.assemble(pieces, (indices) => {
      this.work.spend(indices.length < 2 ? SINGLE_STEPS : 2 + indices.length);
      return join(indices);
    });
  }

  /**
   * Adds the derivatives of `expression` followed by `next`, in Antimirov's linear form. The
   * expression must not look behind. What is in `already` is added once only, however many paths
   * lead to it.
   */
  #addPieces(
    expression: Expression,
    next: Expression,
    out: Piece[],
    already: Set<number>,
  ): void {
    const key = expression * BEYOND_NODES + next;
    if (already.has(key)) return;
    already.add(key);
    this.#count();
    const e = this.#expressions;
    const { store } = e;
    const { kinds, first, second, third } = store;
    switch (kinds[expression]) {
      case Kind.Set:
        out.push({ set: e.sets[first[expression]!]!, target: next });
        return;
      case Kind.Concat: {
        let condition = e.everything;
        for (;;) {
          const isLast = kinds[expression] !== Kind.Concat;
          const head = isLast ? expression : first[expression]!;
          const begin = out.length;
          const rest = isLast ? next : e.concat(second[expression]!, next);
          const isFree = condition === e.everything;
          this.#addPieces(head, rest, out, isFree ? already : new Set());
          if (!isFree) this.#restrict(out, begin, condition);
          const skip = isLast ? e.empty : this.#skipping(head);
          if (skip !== e.everything) condition = e.and([condition, skip]);
          if (condition === e.empty) return;
          expression = second[expression]!;
        }
      }
      case Kind.Repeat: {
        const body = first[expression]!;
        const min = second[expression]!;
        const max = third[expression] === -1 ? Infinity : third[expression]!;
        const after = (least: number) => e.concat(e.repeat(body, least, max - 1), next);
        this.#addPieces(body, after(Math.max(min - 1, 0)), out, already);
        // If the body can match nothing, all required rounds that remain can do so here.
        const skip = min > 1 ? this.#skipping(body) : e.empty;
        if (skip === e.empty) return;
        const begin = out.length;
        const isFree = skip === e.everything;
        this.#addPieces(body, after(0), out, isFree ? already : new Set());
        if (!isFree) this.#restrict(out, begin, skip);
        return;
      }
      case Kind.Or:
        for (const item of e.items(expression, Kind.Or)) {
          this.#addPieces(item, next, out, already);
        }
        return;
      case Kind.And:
      case Kind.Not:
        for (const { set, target } of this.#pieces(expression, true)) {
          out.push({ set, target: e.concat(target, next) });
        }
    }
  }

  /** Restricts the pieces from `begin` on to what another whole language allows. */
  #restrict(pieces: Piece[], begin: number, language: Expression): void {
    const e = this.#expressions;
    if (pieces.length === begin) return;
    const allowed = this.#pieces(language, true);
    for (const { set, target } of pieces.splice(begin)) {
      for (const other of allowed) {
        this.#count();
        const both = intersectSets(set, other.set);
        if (both.length > 0) pieces.push({ set: both, target: e.and([target, other.target]) });
      }
    }
  }

  #count(): void {
    this.work.spend(PART_STEPS);
    this.work.check();
    if (++this.#steps > MAX_STEPS && this.work.isCompiling) {
      throw new LanguageError(`Deriving a language: a character takes over ${MAX_STEPS} steps`);
    }
  }

  #findByClasses(expression: Expression): Transitions {
    const sets = firstSets(this.#expressions, expression);
    const { starts, blocks, count } = partition([ANY_CHARACTER, ...sets]);
    this.work.spend((starts.length * sets.length) >> 2);
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
    return transitions;
  }

  #derive(expression: Expression, character: number): Expression {
    return this.#advance(expression, character, this.#expressions.epsilon);
  }

  /**
   * What remains of `expression` followed by `next`, after `character` is read within `expression`.
   */
  #advance(expression: Expression, character: number, next: Expression): Expression {
    this.#count();
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
    // If the body can match nothing, all required rounds that remain can do so here.
    const skipped = this.#advance(body, character, after(0));
    return e.or([counted, e.and([this.#derive(skip, character), skipped])]);
  }

  /** The languages of the rest of the text under which `expression` matches nothing here. */
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

  /**
   * An expression one character later in the text: what it knows of earlier text is updated.
   */
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

/** The sets that affect the derivatives of `expression`. */
function firstSets(expressions: Expressions, expression: Expression): CharacterSet[] {
  const { store } = expressions;
  const { kinds, first, second } = store;
  const sets = new Set<CharacterSet>();
  const seen = new Set<Expression>();
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const kind = kinds[next]!;
    if (kind === Kind.Set) sets.add(expressions.sets[first[next]!]!);
    if (kind < Kind.Concat) continue;
    pending.push(first[next]!);
    if (kind === Kind.Or || kind === Kind.And) pending.push(second[next]!);
    // A later part matters if it can come first, or contains a Behind that is carried along.
    if (kind === Kind.Concat) {
      const reached = store.has(first[next]!, Flag.Skippable);
      if (reached || store.has(second[next]!, Flag.Behind)) pending.push(second[next]!);
    }
  }
  return [...sets];
}
