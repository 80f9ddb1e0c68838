// Simplifies sets of alternatives towards a normal form. Without this, derivatives would create
// ever new expressions for equal languages.

import { type Expression, type ExpressionStore, Flag, Kind } from "./expression_store.ts";

/** The constructors of expressions that are used here. */
export interface Constructors {
  /** The store of the nodes. */
  readonly store: ExpressionStore;
  /** The empty text. */
  readonly epsilon: Expression;
  /** The body and counts of a repetition; any other expression counts as repeated once. */
  times(expression: Expression): [body: Expression, min: number, max: number];
  /** The first part of a Concat; of any other expression, itself. */
  head(expression: Expression): Expression;
  /** The rest of a Concat. */
  tail(expression: Expression): Expression;
  /** `body` from `min` to `max` times. */
  repeat(body: Expression, min: number, max: number): Expression;
  /** `first`, then `rest`. */
  concat(first: Expression, rest: Expression): Expression;
  /** The union of some expressions. */
  or(alternatives: readonly Expression[], shared?: number): Expression;
}

/**
 * Joins alternatives where that is possible, in place.
 * @param shared number of characters up to which equal beginnings are joined
 */
export function simplifyAlternatives(
  expressions: Constructors,
  items: Set<Expression>,
  shared: number,
): void {
  joinRepeats(expressions, items);
  if (shared > 0) joinHeads(expressions, items, shared);
  dropEpsilon(expressions, items);
}

/**
 * Joins x{a,b}y and x{c,d}y if the counts overlap or touch. Otherwise sets of counters would grow.
 */
function joinRepeats(expressions: Constructors, items: Set<Expression>): void {
  const { kinds } = expressions.store;
  const seen = new Map<string, Expression>();
  for (const item of [...items].sort((a, b) => a - b)) {
    const head = expressions.head(item);
    if (kinds[head] !== Kind.Repeat) continue;
    const [body, min, max] = expressions.times(head);
    const tail = expressions.tail(item);
    const key = `${body} ${tail}`;
    const other = seen.get(key);
    seen.set(key, item);
    if (other === undefined) continue;
    const [, otherMin, otherMax] = expressions.times(expressions.head(other));
    if (min > otherMax + 1 || otherMin > max + 1) continue;
    const joined = expressions.repeat(body, Math.min(min, otherMin), Math.max(max, otherMax));
    const whole = expressions.concat(joined, tail);
    items.delete(item);
    items.delete(other);
    items.add(whole);
    seen.set(key, whole);
  }
}

/** Joins xy and xz, for a set x, as x(y|z): many literals become a trie. */
function joinHeads(expressions: Constructors, items: Set<Expression>, shared: number): void {
  const { kinds } = expressions.store;
  const groups = new Map<Expression, Expression[]>();
  for (const item of items) {
    const head = expressions.head(item);
    if (kinds[head] !== Kind.Set) continue;
    const group = groups.get(head);
    if (group) group.push(item);
    else groups.set(head, [item]);
  }
  for (const [head, group] of groups) {
    if (group.length < 2) continue;
    for (const item of group) items.delete(item);
    const tails = group.map((item) => expressions.tail(item));
    items.add(expressions.concat(head, expressions.or(tails, shared - 1)));
  }
}

/** Drops the empty text where another alternative matches it. */
function dropEpsilon(expressions: Constructors, items: Set<Expression>): void {
  const { store, epsilon } = expressions;
  if (!items.has(epsilon)) return;
  for (const item of items) {
    if (item === epsilon || !store.has(item, Flag.Nullable | Flag.Plain)) continue;
    items.delete(epsilon);
    return;
  }
}
