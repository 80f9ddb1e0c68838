// The members that a dot and brackets reach: methods of texts, lists and dictionaries, attributes,
// items and slices. A dot prefers methods, brackets prefer items, as in Jinja. Templates may change
// lists and dictionaries, because they only see copies of the caller's.

import { countItems, countObjects, countRead, countSteps } from "../../../text/render_budget.ts";
import { joinTexts, plain } from "../../../text/tainted_text.ts";
import { formatBraces } from "./format.ts";
import { compare } from "./operators.ts";
import { stringMethods } from "./string_methods.ts";
import {
  type CallArguments,
  ChainableUndefined,
  characterAt,
  characters,
  Dictionary,
  Group,
  isEqual,
  isKey,
  isText,
  iterate,
  JinjaError,
  sliceCharacters,
  TemplateObject,
  toKey,
  toNumber,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** Most units of a missing key in an error message. */
const MOST_SHOWN = 100;

/** `object.name`. Errors: JinjaError if the object is undefined. */
export function getAttribute(object: Value, name: string): Value {
  if (object instanceof ChainableUndefined) return object;
  refuseUndefined(object);
  const method = findMethod(object, name);
  const found = method === undefined ? findItem(object, name) : method;
  return found === undefined ? missing(object, name) : found;
}

/** `object[key]`. Errors: JinjaError if the object is undefined. */
export function getItem(object: Value, key: Value): Value {
  if (object instanceof ChainableUndefined) return object;
  refuseUndefined(object);
  const item = findItem(object, key);
  if (item !== undefined) return item;
  const method = isText(key) ? findMethod(object, plain(key)) : undefined;
  return method === undefined ? missing(object, key) : method;
}

/** The member at a dotted path, such as "function.name" or "0", for filters with an attribute. */
export function getPath(object: Value, path: Value): Value {
  countSteps();
  if (!isText(path)) return getItem(object, path);
  countRead(path.length);
  return plain(path).split(".").reduce<Value>(
    (value, part) => getItem(value, /^\d+$/.test(part) ? Number(part) : part),
    object,
  );
}

/** `object[start:stop:step]`. Errors: JinjaError if the object has no slices. */
export function getSlice(object: Value, start: Value, stop: Value, step: Value): Value {
  refuseUndefined(object);
  if (isText(object)) {
    if ((bound(step) ?? 1) === 1) return sliceCharacters(object, bound(start), bound(stop));
    return joinTexts(slice(characters(object), start, stop, step));
  }
  if (!Array.isArray(object)) {
    throw new JinjaError(`'${typeName(object)}' object is not subscriptable`);
  }
  const items = slice(object, start, stop, step);
  return object instanceof Tuple ? Tuple.from(items) : items;
}

function slice<T>(items: readonly T[], start: Value, stop: Value, step: Value): T[] {
  const stride = bound(step) ?? 1;
  if (stride === 0) throw new JinjaError("slice step cannot be zero");
  const [lowest, highest] = stride > 0 ? [0, items.length] : [-1, items.length - 1];
  const clamp = (position: number | undefined, fallback: number) => {
    if (position === undefined) return fallback;
    const absolute = position < 0 ? position + items.length : position;
    return Math.min(Math.max(absolute, lowest), highest);
  };
  const first = clamp(bound(start), stride > 0 ? lowest : highest);
  const end = clamp(bound(stop), stride > 0 ? highest : lowest);
  countItems(Math.max(0, stride > 0 ? end - first : first - end));
  const result: T[] = [];
  for (let i = first; stride > 0 ? i < end : i > end; i += stride) result.push(items[i]!);
  return result;
}

function bound(value: Value): number | undefined {
  if (value === null) return undefined;
  const number = toNumber(value);
  if (number === undefined) throw new JinjaError("slice indices must be integers or None");
  return number;
}

/** An attribute as Python's getattr() finds it, which is no item; undefined if there is none. */
export function findAttribute(object: Value, name: string): Value | undefined {
  return object instanceof TemplateObject ? object.attribute(name) : findMethod(object, name);
}

function findItem(object: Value, key: Value): Value | undefined {
  if (object instanceof Dictionary) return isKey(key) ? object.get(toKey(key)) : undefined;
  if (object instanceof TemplateObject) {
    return isText(key) ? object.attribute(plain(key)) : undefined;
  }
  const position = typeof key === "number" || typeof key === "boolean" ? Number(key) : undefined;
  if (position === undefined) return undefined;
  if (Array.isArray(object)) return object.at(position);
  return isText(object) ? characterAt(object, position) : undefined;
}

function findMethod(object: Value, name: string): Value | undefined {
  if (isText(object)) {
    if (name === "format") return (args) => formatBraces(object, args, getPath);
    return bind(stringMethods, object, name);
  }
  if (object instanceof Dictionary) return bind(dictionaryMethods, object, name);
  if (object instanceof Group && (name === "grouper" || name === "list")) return object[name];
  return Array.isArray(object) ? bind(listMethods, object, name) : undefined;
}

type Methods<T> = Readonly<Record<string, (object: T, args: CallArguments) => Value>>;

function bind<T>(methods: Methods<T>, object: T, name: string): Value | undefined {
  if (!Object.hasOwn(methods, name)) return undefined;
  return (args) => methods[name]!(object, args);
}

const listMethods: Methods<Value[]> = {
  append: (list, args) => {
    countObjects(0.25);
    list.push(args.require(0));
    return null;
  },
  extend: (list, args) => {
    for (const item of [...iterate(args.require(0))]) list.push(item);
    return null;
  },
  insert: (list, args) => {
    countItems(list.length);
    list.splice(args.integer(0) ?? 0, 0, args.require(1));
    return null;
  },
  pop: (list, args) => {
    countItems(list.length);
    const [item] = list.splice(args.integer(0) ?? -1, 1);
    if (item === undefined) throw new JinjaError("pop index out of range");
    return item;
  },
  reverse: (list) => {
    countItems(list.length);
    list.reverse();
    return null;
  },
  sort: (list, args) => {
    list.sort((a, b) => compare(a, b));
    if (args.flag(1, "reverse")) list.reverse();
    return null;
  },
  copy: (list) => [...iterate(list)],
  count: (list, args) => list.filter((item) => isEqual(item, args.require(0))).length,
  index: (list, args) => {
    const at = list.findIndex((item) => isEqual(item, args.require(0)));
    if (at < 0) throw new JinjaError("the value is not in the list");
    return at;
  },
};

const dictionaryMethods: Methods<Dictionary> = {
  get: (dictionary, args) => {
    const value = dictionary.get(toKey(args.require(0)));
    return value === undefined ? args.get(1, "default") ?? null : value;
  },
  items: (dictionary) => dictionary.pairs(),
  keys: (dictionary) => dictionary.keyValues(),
  values: (dictionary) => {
    countItems(dictionary.size);
    return [...dictionary.values()];
  },
  copy: (dictionary) => {
    countObjects(dictionary.size);
    return new Dictionary(dictionary);
  },
  pop: (dictionary, args) => {
    const key = toKey(args.require(0));
    const value = dictionary.has(key) ? dictionary.get(key) : args.get(1);
    if (value === undefined) throw new JinjaError(`KeyError: ${key}`);
    dictionary.delete(key);
    return value;
  },
  setdefault: (dictionary, args) => {
    const key = args.require(0);
    countObjects(1);
    if (!dictionary.has(toKey(key))) dictionary.put(key, args.get(1) ?? null);
    return dictionary.get(toKey(key))!;
  },
  update: (dictionary, args) => {
    const other = args.get(0);
    if (other instanceof Dictionary) {
      for (const [key, value] of other.pairs()) dictionary.put(key!, value!);
    }
    for (const [key, value] of args.keywords) dictionary.set(key, value);
    return null;
  },
};

function missing(object: Value, key: Value): Undefined {
  const subject = object === null ? "None" : `${typeName(object)} object`;
  if (isText(key)) {
    return new Undefined(`'${subject}' has no attribute '${plain(key).slice(0, MOST_SHOWN)}'`);
  }
  return new Undefined(
    `${subject} has no element ${typeof key === "number" ? key : typeName(key)}`,
  );
}

function refuseUndefined(value: Value): void {
  if (value instanceof Undefined) throw new JinjaError(value.reason);
}
