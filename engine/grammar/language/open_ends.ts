// Languages in which no plain text is a dead end: whatever is written, something completes it. An
// answer from the form of an expression alone, so it may miss some.

import { type CharacterSet, intersectSets, invertSet } from "./character_set.ts";
import { type Expression, Flag, Kind } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";

/** What a JSON string holds without escapes. */
const PLAIN: CharacterSet = [0x20, 0x21, 0x23, 0x5b, 0x5d, 0xd7ff, 0xe000, 0x10ffff];

/** The characters that a dot in patterns does not stand for, of those. */
const SEPARATORS: CharacterSet = [0x2028, 0x2029];

const WITHOUT_SEPARATORS = intersectSets(PLAIN, invertSet(SEPARATORS));

/**
 * Most characters that any text without escapes, and without separators if it is to be so, lacks to be in
 * the language; Infinity: unknown.
 */
export function mostMissing(
  expressions: Expressions,
  expression: Expression,
  withoutSeparators = false,
): number {
  const { store } = expressions;
  const { kinds, first, second, third, max, min } = store;
  const plain = withoutSeparators ? WITHOUT_SEPARATORS : PLAIN;
  const of = (item: Expression) => mostMissing(expressions, item, withoutSeparators);
  switch (kinds[expression]) {
    case Kind.Repeat: {
      const isEndless = third[expression] === -1 && kinds[first[expression]!] === Kind.Set;
      return isEndless && isPlain(expressions, first[expression]!, plain)
        ? second[expression]!
        : Infinity;
    }
    case Kind.Concat: {
      const rest = second[expression]!;
      return store.has(rest, Flag.Plain) ? of(first[expression]!) + min[rest]! : Infinity;
    }
    case Kind.Or:
      return Math.min(...expressions.items(expression, Kind.Or).map(of));
    case Kind.Not:
      return isShort(expressions, expression) ? max[first[expression]!]! + 1 : Infinity;
    case Kind.And: {
      // What is too long for all short exceptions can still be completed for one other part.
      const parts = expressions.items(expression, Kind.And);
      const others = parts.filter((part) => !isShort(expressions, part));
      return others.length > 1 ? Infinity : parts.reduce((sum, part) => sum + of(part), 0);
    }
    default:
      return Infinity;
  }
}

/** Whether there is a text in it, by its form alone. */
export function hasEnd(expressions: Expressions, expression: Expression): boolean {
  return expressions.store.has(expression, Flag.Plain) ||
    mostMissing(expressions, expression) < Infinity;
}

/** Whether it is all but texts of a limited length. */
function isShort({ store }: Expressions, expression: Expression): boolean {
  return store.kinds[expression] === Kind.Not && !store.has(expression, Flag.Behind) &&
    store.max[store.first[expression]!]! < Infinity;
}

function isPlain(
  { sets, store }: Expressions,
  expression: Expression,
  plain: CharacterSet,
): boolean {
  return intersectSets(plain, sets[store.first[expression]!]!).join() === plain.join();
}

/** Whether no text of it holds a line separator, by its form alone. */
export function isWithoutSeparators(expressions: Expressions, expression: Expression): boolean {
  const { kinds, first } = expressions.store;
  const known = new Map<Expression, boolean>();
  const find = (at: Expression): boolean => {
    let found = known.get(at);
    if (found === undefined) known.set(at, found = look(at));
    return found;
  };
  const look = (at: Expression): boolean => {
    const kind = kinds[at]!;
    switch (kind) {
      case Kind.Set:
        return intersectSets(expressions.sets[first[at]!]!, SEPARATORS).length === 0;
      case Kind.And:
        return expressions.items(at, kind).some(find);
      case Kind.Concat:
      case Kind.Or:
        return expressions.items(at, kind).every(find);
      case Kind.Not:
        return false;
      case Kind.Repeat:
        return find(first[at]!);
      default:
        return true;
    }
  };
  return find(expression);
}
