// Brings alternatives nearer to a normal form: otherwise derivatives would find equal languages again and
// again as different expressions.

import { type Expression, type ExpressionStore, Flag, Kind } from "./expression_store.ts";

/** The constructors of expressions that joining uses. */
export interface Constructors {
  /** Where the nodes are. */
  readonly store: ExpressionStore;
  /** The empty text. */
  readonly epsilon: Expression;
  /** Body and counts of a repetition; anything else is there once. */
  times(expression: Expression): [body: Expression, min: number, max: number];
  /** What a Concat begins with; anything else begins with itself. */
  head(expression: Expression): Expression;
  /** What a Concat goes on with. */
  tail(expression: Expression): Expression;
  /** `body` from `min` to `max` times. */
  repeat(body: Expression, min: number, max: number): Expression;
  /** `first`, then `rest`. */
  concat(first: Expression, rest: Expression): Expression;
  /** Any of them. */
  or(alternatives: readonly Expression[], shared?: number): Expression;
}

/**
 * Joins what can be joined in a set of alternatives, in place.
 * @param shared to how many characters beginnings that are equal are joined
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

/** Joins x{a,b}y and x{c,d}y where the counts overlap or touch, lest sets of counters grow. */
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
