// The values of templates: Python's, as far as JavaScript lacks them. Strings without data,
// booleans, lists (arrays), None (null) and integers (numbers, and bigints where doubles are not
// exact) are JavaScript's own. Defined by Python's data model and by jinja2.Undefined.

import { isSameNumber, numberText } from "../../../json/mod.ts";
import { countItems, countObjects, countRead, countSteps } from "../../../text/render_budget.ts";
import {
  cutText,
  plain,
  sliceText,
  taint,
  TaintedText,
  type Text,
} from "../../../text/tainted_text.ts";

/**
 * The error of a template that does not parse or cannot be run. Messages are similar to Jinja's.
 */
export class JinjaError extends Error {
  /** Name of the class. */
  override name = "JinjaError";
}

/** A value of an expression. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | Text
  | Float
  | Undefined
  | TemplateObject
  | Value[]
  | Dictionary
  | Callable;

/** A key of a dictionary. Python can hash more, but templates do not use it. */
export type Key = string | number | bigint | boolean | null;

/** Python's dict. Its keys are plain; the methods that return keys mark those that are data. */
export class Dictionary extends Map<Key, Value> {
  #dataKeys: Set<Key> | undefined;

  /** A dictionary of these entries. The entries of another dictionary keep their marks of data. */
  constructor(entries: Iterable<readonly [Key, Value]> = []) {
    super(entries);
    if (entries instanceof Dictionary && entries.#dataKeys) {
      this.#dataKeys = new Set(entries.#dataKeys);
    }
  }

  /** Sets an entry whose key may be data. Errors: JinjaError if it cannot be a key. */
  put(key: Value, value: Value): void {
    const plainKey = toKey(key);
    if (key instanceof TaintedText && !this.has(plainKey)) {
      (this.#dataKeys ??= new Set()).add(plainKey);
    }
    this.set(plainKey, value);
  }

  override delete(key: Key): boolean {
    this.#dataKeys?.delete(key);
    return super.delete(key);
  }

  /** The keys; those that are data are marked. */
  keyValues(): Value[] {
    countItems(this.size);
    if (!this.#dataKeys) return [...this.keys()];
    return Array.from(this.keys(), (key) => this.#valueOf(key));
  }

  /** Pairs of keys and values; keys that are data are marked. */
  pairs(): Tuple[] {
    countObjects(this.size);
    return Array.from(this, ([key, value]) => Tuple.of<Value>(this.#valueOf(key), value));
  }

  #valueOf(key: Key): Value {
    return typeof key === "string" && this.#dataKeys?.has(key) ? taint(key) : key;
  }
}

/** A macro, a method or a global function. */
export type Callable = (args: CallArguments) => Value;

/** Python's float. JavaScript's numbers and bigints are ints. */
export class Float {
  /**
   * @param value the number, which may be whole
   * @param text how JSON wrote it, if the double is another number: it prints so, because a prompt
   *   must not lose digits
   */
  constructor(readonly value: number, readonly text?: string) {}
}

/** An int: a number if that is exact. */
export function toInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** The value of a number in JSON, as Python's json.loads() gives it. */
function fromNumberText(text: string): Value {
  if (/^-?\d+$/.test(text)) return toInteger(BigInt(text));
  const value = Number(text);
  return isSameNumber(text, value) ? new Float(value) : new Float(value, text);
}

/** Python's tuple, which differs from a list in how it prints and compares. */
export class Tuple extends Array<Value> {}

/** A group that the filter groupby makes: a tuple whose two items have names, too. */
export class Group extends Tuple {
  /** The value that its items share. */
  get grouper(): Value {
    return this[0]!;
  }

  /** Its items. */
  get list(): Value {
    return this[1]!;
  }
}

/**
 * The result of select, map and the like: a list that is true even if it is empty, as in Python.
 */
export class Generator extends Array<Value> {}

/** A name or member that does not exist. It prints as nothing, and using it is an error. */
export class Undefined {
  /** @param reason the error of using it, such as "'x' is undefined" */
  constructor(readonly reason: string) {}
}

/** An undefined value whose members are undefined, too, instead of errors. */
export class ChainableUndefined extends Undefined {}

/** A value with attributes of its own, such as `loop`. */
export abstract class TemplateObject {
  /** The attribute's value; undefined if there is none. */
  abstract attribute(name: string): Value | undefined;
}

/** The result of namespace(): the only object whose attributes templates may set. */
export class Namespace extends TemplateObject {
  readonly #attributes = new Map<string, Value>();

  override attribute(name: string): Value | undefined {
    return this.#attributes.get(name);
  }

  /** Sets an attribute. */
  set(name: string, value: Value): void {
    this.#attributes.set(name, value);
  }
}

/** The arguments of a call, by position and by name. */
export class CallArguments {
  /** Takes both kinds. */
  constructor(
    readonly positional: readonly Value[] = [],
    readonly keywords: Dictionary = new Dictionary(),
  ) {}

  /** The argument at `index` or named `name`; undefined if it is not given. */
  get(index: number, name = ""): Value | undefined {
    return index < this.positional.length ? this.positional[index] : this.keywords.get(name);
  }

  /** The argument at `index` or named `name`. Errors: JinjaError if it is not given. */
  require(index: number, name = ""): Value {
    const value = this.get(index, name);
    if (value === undefined) throw new JinjaError(`missing argument ${name || index + 1}`);
    return value;
  }

  /** A string argument without its marks of data; None counts as not given. Errors: JinjaError. */
  plainText(index: number, name = ""): string | undefined {
    const text = this.text(index, name);
    return text === undefined ? undefined : plain(text);
  }

  /** A string argument; None counts as not given. Errors: JinjaError. */
  text(index: number, name = ""): Text | undefined {
    const value = this.get(index, name) ?? undefined;
    if (value === undefined || isText(value)) return value;
    throw new JinjaError(`argument ${name || index + 1} must be str, not ${typeName(value)}`);
  }

  /** A whole number; None counts as not given. Errors: JinjaError. */
  integer(index: number, name = ""): number | undefined {
    const value = this.get(index, name) ?? undefined;
    if (value === undefined || typeof value === "number") return value;
    if (typeof value === "boolean") return Number(value);
    throw new JinjaError(`argument ${name || index + 1} must be int, not ${typeName(value)}`);
  }

  /** Whether the argument is given and true. */
  flag(index: number, name = ""): boolean {
    const value = this.get(index, name);
    return value !== undefined && isTruthy(value);
  }

  /** These arguments without the first `count` positional ones. */
  after(count: number): CallArguments {
    countSteps(2);
    return new CallArguments(this.positional.slice(count), this.keywords);
  }
}

/** Whether a value is a string. */
export function isText(value: Value | undefined): value is Text {
  return typeof value === "string" || value instanceof TaintedText;
}

/** Python's name of the value's type, for messages. */
export function typeName(value: Value): string {
  if (value === null) return "NoneType";
  if (value instanceof Tuple) return "tuple";
  if (value instanceof Generator) return "generator";
  if (Array.isArray(value)) return "list";
  if (value instanceof Dictionary) return "dict";
  if (value instanceof Float) return "float";
  if (isText(value)) return "str";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || typeof value === "bigint") return "int";
  return typeof value === "function" ? "function" : value.constructor.name;
}

/** Python's bool(). */
export function isTruthy(value: Value): boolean {
  if (value instanceof Generator) return true;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Dictionary) return value.size > 0;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Undefined) return false;
  return Boolean(value);
}

/** The number of an int, a bool or a float; undefined for anything else. */
export function toNumber(value: Value): number | undefined {
  const number = toExactNumber(value);
  return number === undefined ? undefined : Number(number);
}

/**
 * The number of an int, a bool or a float, or a bigint for an int that no number is exactly; undefined for
 * anything else. JavaScript compares the two by
 * value.
 */
export function toExactNumber(value: Value): number | bigint | undefined {
  if (value instanceof Float) return value.value;
  if (typeof value === "boolean") return Number(value);
  return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}

/** Python's `==`. */
export function isEqual(left: Value, right: Value): boolean {
  countSteps();
  if (isText(left)) {
    if (!isText(right) || left.length !== right.length) return false;
    countRead(left.length);
    return plain(left) === plain(right);
  }
  if (left === right) return true;
  const number = toExactNumber(left);
  if (number !== undefined) return isSame(number, toExactNumber(right));
  if (Array.isArray(left)) {
    return Array.isArray(right) && left instanceof Tuple === right instanceof Tuple &&
      left.length === right.length && left.every((item, i) => isEqual(item, right[i]!));
  }
  if (left instanceof Dictionary) {
    return right instanceof Dictionary && left.size === right.size &&
      [...left].every(([key, item]) => right.has(key) && isEqual(item, right.get(key)!));
  }
  return left instanceof Undefined && right instanceof Undefined;
}

/** Whether numbers are equal, of whichever type. */
function isSame(a: number | bigint, b: number | bigint | undefined): boolean {
  return b !== undefined && a <= b && a >= b;
}

/** Whether a value may be a key of a dictionary. */
export function isKey(value: Value): value is Key | Float | TaintedText {
  return value === null || value instanceof Float || value instanceof TaintedText ||
    (typeof value !== "object" && typeof value !== "function");
}

/** The key of a value. Errors: JinjaError if it cannot be a key. */
export function toKey(value: Value): Key {
  if (isText(value)) {
    countRead(value.length);
    return plain(value);
  }
  if (isKey(value)) return value instanceof Float ? value.value : value;
  throw new JinjaError(`unhashable type: '${typeName(value)}'`);
}

const SURROGATE = /[\ud800-\udfff]/;

/** Whether each UTF-16 unit of a text is a character. */
function hasUnitsOnly(text: Text): boolean {
  countRead(text.length);
  return !SURROGATE.test(plain(text));
}

/** The characters of a text, which are code points as in Python. */
export function characters(text: Text): Text[] {
  const units = plain(text);
  countObjects(units.length);
  const all = SURROGATE.test(units) ? [...units] : units.split("");
  if (typeof text === "string") return all;
  let end = 0;
  return all.map((character) => cutText(text, end, end += character.length));
}

export function countCharacters(text: Text): number {
  if (hasUnitsOnly(text)) return text.length;
  let count = 0;
  for (const _ of plain(text)) count++;
  return count;
}

/** Characters [start, end) of a text as in Python, where negative numbers count from the end. */
export function sliceCharacters(text: Text, start?: number, end?: number): Text {
  const units = plain(text);
  if (hasUnitsOnly(text)) {
    const [from = 0, to = units.length] = [start, end].map((index) =>
      index === undefined
        ? undefined
        : Math.min(index < 0 ? Math.max(0, index + units.length) : index, units.length)
    );
    return sliceText(text, from, to);
  }
  const all = [...units];
  countObjects(all.length);
  const before = all.slice(0, start ?? 0).join("").length;
  const kept = all.slice(start ?? 0, end).join("");
  return sliceText(text, before, before + kept.length);
}

/** The character at a position, from the end if negative; undefined if there is none. */
export function characterAt(text: Text, position: number): Text | undefined {
  if (!hasUnitsOnly(text)) return characters(text).at(position);
  const index = position < 0 ? position + text.length : position;
  return Number.isInteger(index) && index >= 0 && index < text.length
    ? sliceText(text, index, index + 1)
    : undefined;
}

/** The items over which a loop runs. Errors: JinjaError if the value has none. */
export function iterate(value: Value): readonly Value[] {
  countSteps();
  if (Array.isArray(value)) {
    countItems(value.length);
    return value;
  }
  if (isText(value)) return characters(value);
  if (value instanceof Dictionary) return value.keyValues();
  if (value instanceof Undefined) return [];
  throw new JinjaError(`'${typeName(value)}' object is not iterable`);
}

/**
 * The value of plain data: JSON, and functions that are Callable already.
 * @param makeText makes a value of a string: taint() for what people wrote
 */
export function toValue(data: unknown, makeText: (text: string) => Text = plain): Value {
  countObjects(1);
  if (Array.isArray(data)) return data.map((item) => toValue(item, makeText));
  switch (typeof data) {
    case "number":
      if (Number.isSafeInteger(data)) return data;
      return Number.isFinite(data) ? fromNumberText(numberText(data)!) : new Float(data);
    case "string":
      return makeText(data);
    case "boolean":
      return data;
    case "bigint":
      return toInteger(data);
    case "object": {
      if (data === null) return null;
      const number = numberText(data);
      if (number !== undefined) return fromNumberText(number);
      const dictionary = new Dictionary();
      for (const [key, value] of Object.entries(data)) {
        if (value !== undefined) dictionary.put(makeText(key), toValue(value, makeText));
      }
      return dictionary;
    }
    default:
      return new Undefined(`a JavaScript ${typeof data} is no value of a template`);
  }
}
