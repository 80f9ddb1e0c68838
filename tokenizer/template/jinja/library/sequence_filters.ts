// Jinja's filters for lists and dictionaries, except those that call other filters. Defined by the
// list of built-in filters in Jinja's template designer documentation.

import { countItems, countObjects } from "../../../text/render_budget.ts";
import { joinTexts, plain, type Text } from "../../../text/tainted_text.ts";
import { findAttribute, getPath } from "../values/members.ts";
import { applyOperator, compare } from "../values/operators.ts";
import { convert } from "../values/string_methods.ts";
import { toText } from "../values/text.ts";
import {
  type CallArguments,
  characters,
  countCharacters,
  Dictionary,
  Generator,
  Group,
  isEqual,
  isText,
  iterate,
  JinjaError,
  type Tuple,
  typeName,
  Undefined,
  type Value,
} from "../values/values.ts";

/** A filter: takes the value before the bar, and the arguments in parentheses after its name. */
export type Filter = (value: Value, args: CallArguments) => Value;

/** Python's len(). Errors: JinjaError. */
export function lengthOf(value: Value): number {
  if (isText(value)) return countCharacters(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Dictionary) return value.size;
  if (value instanceof Undefined) return 0;
  throw new JinjaError(`object of type '${typeName(value)}' has no len()`);
}

/** The items of a dictionary, as in Python. Errors: JinjaError if the value is no dictionary. */
function itemsOf(value: Value): Tuple[] {
  if (value instanceof Undefined) return [];
  if (!(value instanceof Dictionary)) {
    throw new JinjaError("Can only get item pairs from a mapping.");
  }
  return value.pairs();
}

/** The attribute of an item that a filter works with, or else the item. */
function keyOf(item: Value, attribute: Value | undefined, isCaseSensitive: boolean): Value {
  const key = attribute === undefined || attribute === null ? item : getPath(item, attribute);
  return isText(key) && !isCaseSensitive ? convert(key, (text) => text.toLowerCase()) : key;
}

/** The items in ascending order of one of their attributes. Equal ones keep their order. */
function sortBy(
  items: readonly Value[],
  attribute: Value | undefined,
  isCaseSensitive: boolean,
  isReversed = false,
): Value[] {
  const names = isText(attribute) ? plain(attribute).split(",") : [attribute];
  countObjects(items.length * names.length);
  const keyed = items.map((item) => ({
    item,
    key: names.map((name) => keyOf(item, name, isCaseSensitive)),
  }));
  keyed.sort((a, b) => isReversed ? compare(b.key, a.key) : compare(a.key, b.key));
  return keyed.map(({ item }) => item);
}

function sortDictionary(value: Value, args: CallArguments): Value {
  const position = args.plainText(1, "by") === "value" ? 1 : 0;
  return sortBy(
    itemsOf(value),
    position,
    args.flag(0, "case_sensitive"),
    args.flag(2, "reverse"),
  );
}

function unique(value: Value, args: CallArguments): Value {
  const seen: Value[] = [];
  return Generator.from(
    iterate(value).filter((item) => {
      const key = keyOf(item, args.get(1, "attribute"), args.flag(0, "case_sensitive"));
      const isNew = !seen.some((other) => isEqual(other, key));
      if (isNew) seen.push(key);
      return isNew;
    }),
  );
}

function extreme(value: Value, args: CallArguments, sign: number): Value {
  const [attribute, isCaseSensitive] = [args.get(1, "attribute"), args.flag(0, "case_sensitive")];
  const items = iterate(value);
  if (items.length === 0) return new Undefined("No aggregated item, sequence was empty.");
  const key = (item: Value) => keyOf(item, attribute, isCaseSensitive);
  return items.reduce((best, item) => sign * compare(key(item), key(best)) > 0 ? item : best);
}

function groupBy(value: Value, args: CallArguments): Value {
  const attribute = args.require(0, "attribute");
  const isCaseSensitive = args.flag(2, "case_sensitive");
  const fallback = args.get(1, "default");
  const exact = (item: Value) => {
    const key = getPath(item, attribute);
    return key instanceof Undefined && fallback !== undefined ? fallback : key;
  };
  const key = (item: Value) => keyOf(exact(item), undefined, isCaseSensitive);
  const sorted = [...iterate(value)].sort((a, b) => compare(key(a), key(b)));
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sorted) {
    const last = groups.at(-1);
    if (last && isEqual(last.key, key(item))) last.items.push(item);
    else groups.push({ key: key(item), items: [item] });
  }
  return groups.map(({ items }) => Group.of<Value>(exact(items[0]!), items));
}

function join(value: Value, args: CallArguments): Text {
  const attribute = args.get(1, "attribute");
  const texts = iterate(value).map((item) =>
    toText(attribute === undefined ? item : getPath(item, attribute))
  );
  return joinTexts(texts, args.text(0, "d") ?? "");
}

function batch(value: Value, args: CallArguments): Value {
  const size = Math.max(1, args.integer(0, "linecount") ?? 1);
  const items = iterate(value);
  countObjects(items.length / size);
  countItems(items.length);
  const rows = Array.from(
    { length: Math.ceil(items.length / size) },
    (_, row) => items.slice(row * size, (row + 1) * size),
  );
  const fill = args.get(1, "fill_with") ?? null;
  if (fill !== null && rows.length > 0) {
    const last = rows.length - 1;
    countItems(2 * size);
    rows[last] = [...rows[last]!, ...Array(size - rows[last]!.length).fill(fill)];
  }
  return Generator.from(rows as Value[]);
}

function slice(value: Value, args: CallArguments): Value {
  const count = Math.max(1, args.integer(0, "slices") ?? 1);
  const items = iterate(value);
  const [size, longer] = [Math.floor(items.length / count), items.length % count];
  const fill = args.get(1, "fill_with") ?? null;
  countObjects(Math.min(count, 10_000));
  return Generator.from({ length: Math.min(count, 10_000) }, (_, i): Value => {
    const start = i * size + Math.min(i, longer);
    const part = items.slice(start, start + size + (i < longer ? 1 : 0));
    return fill !== null && i >= longer && longer > 0 ? [...part, fill] : part;
  });
}

function sum(value: Value, args: CallArguments): Value {
  const attribute = args.get(0, "attribute") ?? null;
  return iterate(value).reduce<Value>(
    (total, item) =>
      applyOperator("+", total, attribute === null ? item : getPath(item, attribute)),
    args.get(1, "start") ?? 0,
  );
}

function reverse(value: Value): Value {
  if (isText(value)) return joinTexts(characters(value).reverse());
  return Generator.from([...iterate(value)].reverse());
}

function edge(value: Value, position: number): Value {
  const item = iterate(value).at(position);
  return item === undefined ? new Undefined("No item, sequence was empty.") : item;
}

/** Filters by name. */
export const sequenceFilters: Readonly<Record<string, Filter>> = {
  attr: (value, args) => {
    const name = args.plainText(0, "name") ?? "";
    const found = findAttribute(value, name);
    return found === undefined ? new Undefined(`no attribute '${name}'`) : found;
  },
  batch,
  count: lengthOf,
  dictsort: sortDictionary,
  first: (value) => edge(value, 0),
  groupby: groupBy,
  items: (value) => Generator.from(itemsOf(value)),
  join,
  last: (value) => edge(value, -1),
  length: lengthOf,
  list: (value) => [...iterate(value)],
  max: (value, args) => extreme(value, args, 1),
  min: (value, args) => extreme(value, args, -1),
  reverse,
  slice,
  sort: (value, args) =>
    sortBy(
      iterate(value),
      args.get(2, "attribute"),
      args.flag(1, "case_sensitive"),
      args.flag(0, "reverse"),
    ),
  sum,
  unique,
};
