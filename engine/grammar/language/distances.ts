// Languages in which no plain text is a dead end: every text that has been written can be
// completed. This module finds how much is missing at most, from the form of an expression alone.
// So it may miss some languages, and the number may be too large.

import { type CharacterSet, intersectSets } from "./character_set.ts";
import type { Derivatives } from "./derivatives.ts";
import { LanguageError } from "./errors.ts";
import { type Expression, Flag, Kind } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import { cheapestCharacter, type Writing } from "./json_escapes.ts";

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

// The length of the shortest text of an expression, found by A* over derivatives. Lengths that are
// noted in the nodes are the lower bound. An infinite length means that the language is empty.

/** Most expressions that one search visits. */
const MAX_VISITED = 100_000;

/** Most steps of one search: a third of a second. */
const MAX_WORK = 900_000;

/** One error for all, because it is thrown so often that making stack traces would be slow. */
const TOO_BIG = new LanguageError(
  "Searching a language for its shortest text: too many states to look at",
);

/** Most characters of a shortest text. No answer is that long. */
const MAX_LENGTH = 2 ** 28;

const TOO_LONG = new LanguageError(
  `Searching a language for its shortest text: it is over ${MAX_LENGTH} characters long`,
);

/** A step on the way to acceptance: one character. */
interface Step {
  readonly character: number;
  readonly next: Expression;
}

/** The step by which an expression was reached. */
interface Visit {
  cost: number;
  readonly from: Expression;
  readonly character: number;
}

/** Distances to acceptance, in characters, or in bytes of a way of writing text. */
export class Distances {
  readonly #expressions: Expressions;
  readonly #derivatives: Derivatives;
  /** Undefined: distances are in characters. */
  readonly #writing: Writing | undefined;
  readonly #known: (number | undefined)[] = [];
  readonly #plain: PlainLengths;
  readonly #steps: (Step | undefined)[] = [];

  /** Counts the bytes of a way of writing; without one, characters. */
  constructor(expressions: Expressions, derivatives: Derivatives, writing?: Writing) {
    this.#expressions = expressions;
    this.#derivatives = derivatives;
    this.#writing = writing;
    this.#plain = new PlainLengths(expressions, { writing });
  }

  /**
   * The length of the shortest text of `expression`; Infinity if it has none.
   * @throws {LanguageError} if finding it takes too long
   */
  of(expression: Expression): number {
    const length = this.#exact(expression) ?? this.#search(expression);
    if (length > MAX_LENGTH && length < Infinity) throw TOO_LONG;
    return length;
  }

  /** Whether {@linkcode of} and {@linkcode text} know the answer already, without a search. */
  isKnown(expression: Expression): boolean {
    return this.#known[expression] !== undefined ||
      this.#expressions.store.has(expression, Flag.Nullable);
  }

  /** The code points of a shortest text; undefined if there is none. */
  text(expression: Expression): number[] | undefined {
    if (this.of(expression) === Infinity) return undefined;
    const text: number[] = [];
    for (;;) {
      if (this.of(expression) === 0) return text;
      // The length may be known even if the characters are not.
      if (!this.#steps[expression] && !this.#findStep(expression)) this.#search(expression);
      const step = this.#steps[expression]!;
      text.push(step.character);
      expression = step.next;
    }
  }

  /** The distance, if it is known without a search. */
  #exact(expression: Expression): number | undefined {
    const { store } = this.#expressions;
    if (store.has(expression, Flag.Nullable)) return 0;
    if (store.has(expression, Flag.Plain)) {
      return this.#writing ? this.#plain.of(expression) : store.min[expression]!;
    }
    return this.#known[expression];
  }

  #search(start: Expression): number {
    const { store } = this.#expressions;
    const visits = new Map<Expression, Visit>([[start, { cost: 0, from: -1, character: -1 }]]);
    // A bucket for each lower bound of the total length, counted from the first expression's bound.
    const least = this.#exact(start) ?? store.min[start]!;
    const queue: Expression[][] = [[start]];
    let bucket = 0;
    const { work } = this.#derivatives;
    const deadline = work.done + MAX_WORK;
    const enqueue = (expression: Expression, cost: number) => {
      const total = cost + (this.#exact(expression) ?? store.min[expression]!);
      if (total < Infinity) (queue[Math.max(total - least, bucket)] ??= []).push(expression);
    };
    const done = new Map<Expression, number>();
    for (; bucket < queue.length; bucket++) {
      for (let e = queue[bucket]?.pop(); e !== undefined; e = queue[bucket]?.pop()) {
        const { cost } = visits.get(e)!;
        if (done.get(e) === cost) continue;
        done.set(e, cost);
        const rest = e === start ? undefined : this.#exact(e);
        if (rest !== undefined) return this.#record(visits, e, cost + rest);
        if (visits.size > MAX_VISITED || work.done > deadline) throw TOO_BIG;
        this.#expand(e, cost, visits, enqueue);
      }
    }
    for (const expression of visits.keys()) this.#known[expression] = Infinity;
    return Infinity;
  }

  /**
   * Notes the next character of the shortest text, if the lengths of all expressions after it are
   * known.
   */
  #findStep(from: Expression): boolean {
    const length = this.#exact(from);
    const { starts, targets } = this.#derivatives.transitions(from);
    for (let i = 0; i < starts.length; i++) {
      const next = targets[i]!;
      const rest = this.#exact(next);
      if (rest === undefined || length === undefined || rest >= length) continue;
      const spelling = cheapestCharacter(starts[i]!, starts[i + 1]! - 1, this.#writing ?? "json");
      if (rest + (this.#writing ? spelling.bytes : 1) !== length) continue;
      this.#steps[from] = { character: spelling.character, next };
      return true;
    }
    return false;
  }

  #expand(
    from: Expression,
    cost: number,
    visits: Map<Expression, Visit>,
    enqueue: (expression: Expression, cost: number) => void,
  ): void {
    const { empty } = this.#expressions;
    const { starts, targets } = this.#derivatives.transitions(from);
    this.#derivatives.work.spend(2 + (starts.length >> 2));
    this.#derivatives.work.check();
    for (let i = 0; i < starts.length; i++) {
      const target = targets[i]!;
      if (target === empty || this.#exact(target) === Infinity) continue;
      const writing = this.#writing ?? "json";
      const { character, bytes } = cheapestCharacter(starts[i]!, starts[i + 1]! - 1, writing);
      const total = cost + (this.#writing ? bytes : 1);
      const visit = visits.get(target);
      if (visit && visit.cost <= total) continue;
      visits.set(target, { cost: total, from, character });
      enqueue(target, total);
    }
  }

  #record(visits: Map<Expression, Visit>, end: Expression, total: number): number {
    let next = end;
    if (this.#known[end] === undefined) this.#known[end] = total - visits.get(end)!.cost;
    for (;;) {
      const { from, character } = visits.get(next)!;
      if (from < 0) return total;
      const before = visits.get(from)!.cost;
      this.#known[from] = total - before;
      this.#steps[from] = { character, next };
      next = from;
    }
  }
}

// The length of the shortest text of an expression that consists of sets, lists, alternatives and
// repetitions only (Flag.Plain), computed from its form without derivatives.

/** The unit of lengths, and the characters that texts may contain. */
interface LengthOptions {
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
