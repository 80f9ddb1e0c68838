// Regular expressions with intersection, complement and assertions, kept in a normal form in which
// derivatives of one expression are few: lists are sorted and flat, repetitions keep their counters.
// After Owens, Reppy and Turon, "Regular-expression derivatives re-examined" (2009).

import { simplifyAlternatives } from "./alternatives.ts";
import {
  ANY_CHARACTER,
  type CharacterSet,
  characterSet,
  lastCodePoint,
  uniteSets,
} from "./character_set.ts";
import {
  type Expression,
  ExpressionStore,
  Flag,
  Kind,
  type NodeFacts,
} from "./expression_store.ts";
import { Work } from "./work.ts";

/**
 * Number of characters up to which equal beginnings of alternatives are joined in a new language.
 */
export const SHARED_BEGINNING = 64;

/** Constructors of expressions. Each returns the normal form of what it is named for. */
export class Expressions {
  readonly store: ExpressionStore;
  /** The character sets that nodes of Kind.Set name by index. */
  readonly sets: CharacterSet[] = [];
  readonly #setIndices = new Map<string, number>();
  readonly #characters: Expression[] = [];
  /** No text; the empty text; every text. */
  readonly empty: Expression;
  readonly epsilon: Expression;
  readonly everything: Expression;

  /** @param of expressions whose base is copied */
  constructor(work = new Work(), of?: Expressions) {
    this.store = new ExpressionStore(work, of?.store);
    of?.sets.forEach((set) => this.#indexOf(set));
    const { Nullable, Plain, Skippable } = Flag;
    this.empty = this.#leaf(Kind.Empty, 0, 0, Infinity, 0);
    this.epsilon = this.#leaf(Kind.Epsilon, 0, Nullable | Plain | Skippable, 0, 0);
    this.everything = this.repeat(this.set(ANY_CHARACTER), 0, Infinity);
  }

  /** One character of `set`. */
  set(set: CharacterSet): Expression {
    if (set.length === 0) return this.empty;
    return this.#leaf(Kind.Set, this.#indexOf(set), Flag.Plain, 1, 1);
  }

  #indexOf(set: CharacterSet): number {
    const key = set.join();
    let index = this.#setIndices.get(key);
    if (index === undefined) {
      index = this.sets.push(set) - 1;
      this.#setIndices.set(key, index);
    }
    return index;
  }

  /** An expression of another store as one of this store, whose base was copied from the other one. */
  adopt(others: Expressions, expression: Expression): Expression {
    const { kinds, first } = others.store;
    const known = new Map<Expression, Expression>();
    const adopt = (one: Expression): Expression => {
      if (one < others.store.base) return one;
      let adopted = known.get(one);
      if (adopted === undefined) known.set(one, adopted = make(one));
      return adopted;
    };
    const make = (one: Expression): Expression => {
      const kind = kinds[one]!;
      const items = () => others.items(one, kind).map(adopt);
      switch (kind) {
        case Kind.Set:
          return this.set(others.sets[first[one]!]!);
        case Kind.Concat:
          return items().reduceRight((rest, item) => this.concat(item, rest));
        case Kind.Or:
          return this.or(items());
        case Kind.And:
          return this.and(items());
        case Kind.Not:
          return this.not(adopt(first[one]!));
        case Kind.Ahead:
          return this.ahead(adopt(first[one]!));
        case Kind.Behind:
          return this.behind(adopt(first[one]!));
        default: {
          const [body, min, max] = others.times(one);
          return this.repeat(adopt(body), min, max);
        }
      }
    };
    return adopt(expression);
  }

  /** Exactly `text`; lone surrogates match nothing. */
  literal(text: string): Expression {
    let rest = this.epsilon;
    for (let end = text.length; end > 0;) {
      const codePoint = lastCodePoint(text, end);
      const character = this.#character(codePoint);
      if (character === this.empty) return character;
      rest = rest === this.epsilon ? character : this.#link(character, rest);
      end -= codePoint > 0xffff ? 2 : 1;
    }
    return rest;
  }

  /** A set of characters, or the empty language if the set has only surrogates. */
  #character(codePoint: number): Expression {
    return this.#characters[codePoint] ??= this.set(characterSet([codePoint, codePoint]));
  }

  /** `first`, then `rest`. */
  concat(first: Expression, rest: Expression): Expression {
    if (first === this.empty || rest === this.empty) return this.empty;
    if (first === this.epsilon) return rest;
    if (rest === this.epsilon) return first;
    let result = rest;
    for (const item of this.items(first, Kind.Concat).reverse()) result = this.#link(item, result);
    return result;
  }

  /** `body` repeated `min` to `max` times; `max` may be Infinity. */
  repeat(body: Expression, min: number, max: number): Expression {
    const { kinds, first, second, third } = this.store;
    if (max === 0 || body === this.epsilon) return this.epsilon;
    if (body === this.empty) return min === 0 ? this.epsilon : this.empty;
    if (this.store.has(body, Flag.Nullable | Flag.Plain)) min = 0;
    if (min === 1 && max === 1) return body;
    if (kinds[body] === Kind.Repeat) {
      const inner = first[body]!;
      const innerMin = second[body]!;
      const innerMax = third[body] === -1 ? Infinity : third[body]!;
      if (innerMin === 0) return this.repeat(inner, 0, max * innerMax);
      if (innerMin === 1 && innerMax === Infinity) return this.repeat(inner, min, Infinity);
    }
    return this.store.intern(Kind.Repeat, body, min, max === Infinity ? -1 : max, () => ({
      flags: (this.store.flags[body]! & (Flag.Plain | Flag.Open | Flag.Behind)) |
        (min === 0
          ? Flag.Nullable | Flag.Skippable
          : this.#flags(body, Flag.Nullable | Flag.Skippable)),
      min: min * this.store.min[body]!,
      max: this.store.max[body] === 0 ? 0 : max * this.store.max[body]!,
      depth: this.store.depth[body]! + 1,
    }));
  }

  /**
   * The union of `alternatives`.
   * @param shared number of characters up to which equal beginnings are joined: useful for new
   *   languages, but too slow for derivatives
   */
  or(alternatives: readonly Expression[], shared = 0): Expression {
    const { kinds } = this.store;
    const items = new Set<Expression>();
    let characters: CharacterSet = [];
    for (const alternative of alternatives) {
      for (const item of this.items(alternative, Kind.Or)) {
        if (item === this.everything) return item;
        if (kinds[item] === Kind.Set) characters = this.#unite(characters, item);
        else if (item !== this.empty) items.add(item);
      }
    }
    if (characters.length > 0) items.add(this.set(characters));
    if (items.size > 1) {
      this.store.work.spend(items.size);
      simplifyAlternatives(this, items, shared);
      for (const item of items) {
        if (kinds[item] === Kind.Not && items.has(this.store.first[item]!)) return this.everything;
      }
    }
    return this.#list(Kind.Or, [...items], this.empty);
  }

  /** The intersection of `parts`, each of which is a whole language. */
  and(parts: readonly Expression[]): Expression {
    const { kinds, first, min, max } = this.store;
    const items = new Set<Expression>();
    const excluded: Expression[] = [];
    for (const part of parts) {
      for (const item of this.items(part, Kind.And)) {
        if (item === this.empty) return item;
        if (kinds[item] === Kind.Not) excluded.push(first[item]!);
        else if (item !== this.everything) items.add(item);
      }
    }
    if (excluded.length > 0) items.add(this.not(this.or(excluded)));
    items.delete(this.everything);
    let fewest = 0;
    let most = Infinity;
    for (const item of items) {
      if (item === this.empty || kinds[item] === Kind.Not && items.has(first[item]!)) {
        return this.empty;
      }
      fewest = Math.max(fewest, min[item]!);
      most = Math.min(most, max[item]!);
    }
    if (fewest > most) return this.empty;
    // What a Behind allows is only known once the text has reached it.
    const settled = [...items].every((item) => !this.store.has(item, Flag.Behind));
    if (most === 0 && items.size > 0 && settled) {
      return [...items].every((item) => this.store.has(item, Flag.Nullable))
        ? this.epsilon
        : this.empty;
    }
    return this.#list(Kind.And, [...items], this.everything);
  }

  /** The complement of `body`, a whole language. */
  not(body: Expression): Expression {
    if (body === this.empty) return this.everything;
    if (body === this.everything) return this.empty;
    if (this.store.kinds[body] === Kind.Not) return this.store.first[body]!;
    const nullable = this.store.has(body, Flag.Nullable);
    return this.store.intern(Kind.Not, body, 0, 0, () => ({
      flags: this.#flags(body, Flag.Behind) | (nullable ? 0 : Flag.Nullable | Flag.Skippable),
      min: nullable && !this.store.has(body, Flag.Behind) ? 1 : 0,
      max: Infinity,
      depth: this.store.depth[body]! + 1,
    }));
  }

  /** Matches nothing, where the rest of the text is in the whole language `rest`. */
  ahead(rest: Expression): Expression {
    return this.#assertion(Kind.Ahead, rest, this.#flags(rest, Flag.Behind));
  }

  /** Matches nothing, where the text from here up to there is in the whole language `prefix`. */
  behind(prefix: Expression): Expression {
    return this.#assertion(Kind.Behind, prefix, Flag.Behind);
  }

  /** The members of a right-nested list, or the expression alone. */
  items(expression: Expression, kind: number): Expression[] {
    const { kinds, first, second } = this.store;
    const items: Expression[] = [];
    for (; kinds[expression] === kind; expression = second[expression]!) {
      items.push(first[expression]!);
    }
    items.push(expression);
    return items;
  }

  /** The body and counts of a repetition; any other expression counts as repeated once. */
  times(expression: Expression): [body: Expression, min: number, max: number] {
    const { kinds, first, second, third } = this.store;
    if (kinds[expression] !== Kind.Repeat) return [expression, 1, 1];
    const max = third[expression]!;
    return [first[expression]!, second[expression]!, max === -1 ? Infinity : max];
  }

  /** The first part of a Concat; of any other expression, itself. */
  head(expression: Expression): Expression {
    const { kinds, first } = this.store;
    return kinds[expression] === Kind.Concat ? first[expression]! : expression;
  }

  /** The rest of a Concat. */
  tail(expression: Expression): Expression {
    const { kinds, second } = this.store;
    return kinds[expression] === Kind.Concat ? second[expression]! : this.epsilon;
  }

  #leaf(kind: number, first: number, flags: number, min: number, max: number): Expression {
    return this.store.intern(kind, first, 0, 0, () => ({ flags, min, max, depth: 1 }));
  }

  #flags(expression: Expression, mask: number): number {
    return this.store.flags[expression]! & mask;
  }

  #assertion(kind: number, operand: Expression, flags: number): Expression {
    if (operand === this.empty) return this.empty;
    if (operand === this.everything) return this.epsilon;
    return this.store.intern(kind, operand, 0, 0, () => ({
      flags: flags | this.#flags(operand, Flag.Nullable) | Flag.Open | Flag.Skippable,
      min: 0,
      max: 0,
      depth: this.store.depth[operand]! + 1,
    }));
  }

  #unite(characters: CharacterSet, item: Expression): CharacterSet {
    const set = this.sets[this.store.first[item]!]!;
    return characters.length === 0 ? set : uniteSets(characters, set);
  }

  /** A Concat whose first item is no Concat; x{a,b}x{c,d} becomes x{a+c,b+d}. */
  #link(item: Expression, rest: Expression): Expression {
    const { kinds } = this.store;
    const head = this.head(rest);
    if (kinds[item] === Kind.Repeat || kinds[head] === Kind.Repeat) {
      const [body, min, max] = this.times(item);
      const [next, nextMin, nextMax] = this.times(head);
      if (body === next) {
        const tail = this.tail(rest);
        const joined = this.repeat(body, min + nextMin, max + nextMax);
        return tail === this.epsilon ? joined : this.#pair(Kind.Concat, joined, tail);
      }
    }
    return this.#pair(Kind.Concat, item, rest);
  }

  #list(kind: number, items: Expression[], none: Expression): Expression {
    if (items.length === 0) return none;
    items.sort((a, b) => a - b);
    let list = items[items.length - 1]!;
    for (let i = items.length - 2; i >= 0; i--) list = this.#pair(kind, items[i]!, list);
    return list;
  }

  #pair(kind: number, first: Expression, rest: Expression): Expression {
    return this.store.intern(kind, first, rest, 0, () => this.#pairFacts(kind, first, rest));
  }

  #pairFacts(kind: number, first: Expression, rest: Expression): NodeFacts {
    const { flags, min, max, depth } = this.store;
    const [a, b, c, d] = [min[first]!, min[rest]!, max[first]!, max[rest]!];
    const both = flags[first]! & flags[rest]!;
    const either = flags[first]! | flags[rest]!;
    const nested = Math.max(depth[first]! + 1, depth[rest]!);
    const { Nullable, Plain, Open, Behind, Skippable } = Flag;
    if (kind === Kind.Concat) {
      const shared = both & (Nullable | Plain | Skippable);
      return { flags: shared | (either & (Open | Behind)), min: a + b, max: c + d, depth: nested };
    }
    if (kind === Kind.Or) {
      const shared = (both & Plain) | (either & (Nullable | Open | Behind | Skippable));
      return { flags: shared, min: Math.min(a, b), max: Math.max(c, d), depth: nested };
    }
    // A conjunction is a whole language, so its assertions only refer to text within it.
    const shared = both & Nullable ? Nullable | Skippable : 0;
    return {
      flags: shared | (either & Behind),
      min: Math.max(a, b),
      max: Math.min(c, d),
      depth: nested,
    };
  }
}
