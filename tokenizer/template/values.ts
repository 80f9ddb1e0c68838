// The values that templates compute with: Python's, as far as JavaScript lacks them. Strings,
// booleans, lists (arrays), dictionaries (maps), None (null) and integers (numbers) are
// JavaScript's own. Fixed by Python's data model and by jinja2.Undefined.

import { JinjaError } from "./errors.ts";

/** Anything that an expression of a template can give. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Float
  | Undefined
  | TemplateObject
  | Value[]
  | Dictionary
  | Callable;

/** What may be a key: Python hashes more, templates use no more. */
export type Key = string | number | boolean | null;

/** Python's dict. */
export type Dictionary = Map<Key, Value>;

/** A macro, a method or a global function. */
export type Callable = (args: CallArguments) => Value;

/** Python's float; a plain number is an int. */
export class Float {
  /** Wraps a number, whole ones too. */
  constructor(readonly value: number) {}
}

/** Python's tuple: differs from a list in how it prints and compares. */
export class Tuple extends Array<Value> {}

/** What select, map and the like give: a list, but true even where it is empty, as in Python. */
export class Generator extends Array<Value> {}

/** A name or a member that does not exist: prints as nothing, and fails where it is used. */
export class Undefined {
  /** @param reason what using it says, such as "'x' is undefined" */
  constructor(readonly reason: string) {}
}

/** One whose members are undefined, too, instead of a failure. */
export class ChainableUndefined extends Undefined {}

/** A value with attributes of its own, such as `loop`. */
export abstract class TemplateObject {
  /** The attribute's value; undefined where there is none. */
  abstract attribute(name: string): Value | undefined;
}

/** What namespace() makes: the one object whose attributes templates may set. */
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
    readonly keywords: ReadonlyMap<string, Value> = new Map(),
  ) {}

  /** The argument at `index` or named `name`; undefined where it is not given. */
  get(index: number, name = ""): Value | undefined {
    return index < this.positional.length ? this.positional[index] : this.keywords.get(name);
  }

  /** As get(), for one that must be there. Error: JinjaError. */
  require(index: number, name = ""): Value {
    const value = this.get(index, name);
    if (value === undefined) throw new JinjaError(`missing argument ${name || index + 1}`);
    return value;
  }

  /** A string; None is like none given. Error: JinjaError. */
  text(index: number, name = ""): string | undefined {
    const value = this.get(index, name) ?? undefined;
    if (value === undefined || typeof value === "string") return value;
    throw new JinjaError(`argument ${name || index + 1} must be str, not ${typeName(value)}`);
  }

  /** A whole number; None is like none given. Error: JinjaError. */
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

  /** The same arguments without the first `count` positional ones. */
  after(count: number): CallArguments {
    return new CallArguments(this.positional.slice(count), this.keywords);
  }
}

/** Python's name of the value's type, for messages. */
export function typeName(value: Value): string {
  if (value === null) return "NoneType";
  if (value instanceof Tuple) return "tuple";
  if (value instanceof Generator) return "generator";
  if (Array.isArray(value)) return "list";
  if (value instanceof Map) return "dict";
  if (value instanceof Float) return "float";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return "int";
  return typeof value === "function" ? "function" : value.constructor.name;
}

/** Python's bool(). */
export function isTruthy(value: Value): boolean {
  if (value instanceof Generator) return true;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Undefined) return false;
  return Boolean(value);
}

/** The number that an int, a bool or a float stands for; undefined for anything else. */
export function toNumber(value: Value): number | undefined {
  if (value instanceof Float) return value.value;
  return typeof value === "number" || typeof value === "boolean" ? Number(value) : undefined;
}

/** Python's `==`. */
export function isEqual(left: Value, right: Value): boolean {
  if (left === right) return true;
  const number = toNumber(left);
  if (number !== undefined) return number === toNumber(right);
  if (Array.isArray(left)) {
    return Array.isArray(right) && left instanceof Tuple === right instanceof Tuple &&
      left.length === right.length && left.every((item, i) => isEqual(item, right[i]!));
  }
  if (left instanceof Map) {
    return right instanceof Map && left.size === right.size &&
      [...left].every(([key, item]) => right.has(key) && isEqual(item, right.get(key)!));
  }
  return left instanceof Undefined && right instanceof Undefined;
}

/** Whether a value may be a key of a dictionary. */
export function isKey(value: Value): value is Key | Float {
  return value === null || value instanceof Float ||
    (typeof value !== "object" && typeof value !== "function");
}

/** The key that a value is. Error: JinjaError where it cannot be one. */
export function toKey(value: Value): Key {
  if (isKey(value)) return value instanceof Float ? value.value : value;
  throw new JinjaError(`unhashable type: '${typeName(value)}'`);
}

/** The characters of a text as Python counts them: code points. */
export function characters(text: string): string[] {
  return /[\ud800-\udfff]/.test(text) ? [...text] : text.split("");
}

/** What a loop over the value visits. Error: JinjaError where it cannot be looped over. */
export function iterate(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return characters(value);
  if (value instanceof Map) return [...value.keys()];
  if (value instanceof Undefined) return [];
  throw new JinjaError(`'${typeName(value)}' object is not iterable`);
}

/** The value that plain data is: what JSON can say, and functions that are Callable already. */
export function toValue(data: unknown): Value {
  if (Array.isArray(data)) return data.map(toValue);
  switch (typeof data) {
    case "number":
      return Number.isInteger(data) ? data : new Float(data);
    case "string":
    case "boolean":
      return data;
    case "bigint":
      return Number(data);
    case "object":
      return data === null ? null : toDictionary(data);
    default:
      return new Undefined(`a JavaScript ${typeof data} is no value of a template`);
  }
}

function toDictionary(data: object): Dictionary {
  const entries = Object.entries(data).filter(([, value]) => value !== undefined);
  return new Map(entries.map(([key, value]) => [key, toValue(value)]));
}
